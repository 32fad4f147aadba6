import pytest

from orchestrator.harness.egress.terms import go_on
from orchestrator.schema.egress import Budget, InjectionTerms, Terms

API = InjectionTerms("api", "vault:acme", "header", "Authorization")


@pytest.mark.parametrize(
    ("under", "now", "goes_on"),
    [
        (Terms(), Terms(), True),
        (Terms(), Terms(inspect=True), False),
        (Terms(inspect=True), Terms(), True),
        (Terms(private=("10.0.0.0/8",)), Terms(), False),
        (Terms(), Terms(private=("10.0.0.0/8",)), True),
        (Terms(injections=(API,)), Terms(), False),
        (Terms(max_upload=5), Terms(max_upload=9), True),
        (Terms(max_upload=9), Terms(max_upload=5), False),
        (Terms(), Terms(max_upload=5), False),
        (Terms(max_upload=5), Terms(), True),
        (Terms(), Terms(max_download=5), False),
        (Terms(), Terms(budgets=(Budget("user/r", 1, 1),)), False),
        (Terms(budgets=(Budget("user/r", 1, 1),)), Terms(budgets=(Budget("user/r", 2),)), True),
        (Terms(budgets=(Budget("user/r", 2, 2),)), Terms(budgets=(Budget("user/r", 1),)), False),
    ],
)
def test_what_runs_goes_on_only_under_terms_as_strict_as_the_new_ones(under, now, goes_on):
    assert go_on(under, now) is goes_on
