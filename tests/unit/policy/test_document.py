"""What a policy file's own checks say of single values."""

import pytest
from pydantic import ValidationError

from orchestrator.policy.document import Approvals, Risks, Workspace


def test_one_word_votes_on_plain_and_grave_cases():
    """The short form stands for both."""
    risks = Risks.model_validate({"destructive": "ask"})

    assert risks.destructive is not None
    assert (risks.destructive.normal, risks.destructive.high) == ("ask", "ask")


@pytest.mark.parametrize("glob", ["/etc/**", "../x", ""])
def test_workspace_glob_that_leaves_the_workspace_is_refused(glob):
    """Protected and hidden paths are the workspace's."""
    with pytest.raises(ValidationError):
        Workspace.model_validate({"protected": [glob]})


@pytest.mark.parametrize(("scope", "fits"), [("once", True), ("30m", True), ("forever", False)])
def test_scope_is_a_word_or_a_duration(scope, fits):
    """Anything else is a mistake."""
    if fits:
        assert Approvals.model_validate({"scopes": (scope,)}).scopes == (scope,)
        return
    with pytest.raises(ValidationError, match="expected once, session, project or a duration"):
        Approvals.model_validate({"scopes": (scope,)})
