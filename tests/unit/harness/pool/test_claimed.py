"""Asking for nothing, or getting nothing, is an answer too; what was got is tested in test_claim."""

from orchestrator.harness.pool.claimed import NO_CLAIM, Claim


def test_claim_without_a_box_has_no_session():
    """The session names itself then."""
    assert Claim(None, "why").session is None
    assert NO_CLAIM.why == ""
