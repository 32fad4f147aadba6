import pytest

from orchestrator.egress.ledger import Ledger, Meter, OverLimitError
from orchestrator.schema.egress import Budget, Terms


def test_a_body_may_be_as_long_as_its_limit_and_no_longer():
    meter = Meter(Terms(max_upload=10, max_download=4), Ledger())
    meter.head("upload", 500)
    meter.body("upload", 10)
    meter.body("download", 4)

    with pytest.raises(OverLimitError, match="max_upload is 10 bytes"):
        meter.body("upload", 1)
    with pytest.raises(OverLimitError, match="max_download"):
        meter.expect("download", 1)
    assert (meter.up, meter.down) == (510, 4)


def test_a_session_has_one_sum_over_all_requests_heads_included():
    ledger, terms = Ledger(), Terms(budgets=(Budget("user/r", upload=100), Budget("user")))
    first, second = Meter(terms, ledger), Meter(terms, ledger)
    first.head("upload", 30)
    first.body("upload", 50)
    second.head("upload", 20)

    with pytest.raises(OverLimitError, match="user/r is 100 bytes, 0 are left"):
        second.head("upload", 1)
    with pytest.raises(OverLimitError):
        second.body("upload", 1)
    second.body("download", 1000)
    assert second.up == 20


def test_a_refused_piece_is_not_counted():
    ledger = Ledger()
    budget = Budget("b", download=10)
    meter = Meter(Terms(budgets=(budget,)), ledger)

    with pytest.raises(OverLimitError):
        meter.body("download", 11)
    assert ledger.left(budget, "download") == 10
    assert meter.down == 0


@pytest.mark.parametrize(
    ("terms", "room"),
    [
        (Terms(), 50),
        (Terms(max_upload=20), 20),
        (Terms(max_upload=20, budgets=(Budget("b", upload=7),)), 7),
        (Terms(budgets=(Budget("b", upload=0),)), 0),
    ],
)
def test_room_is_the_least_of_all_limits(terms, room):
    assert Meter(terms, Ledger()).room("upload", 50) == room
