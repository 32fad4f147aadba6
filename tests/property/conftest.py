import pytest

from orchestrator.policy.effective import EffectivePolicy
from tests.support.shipped import shipped


@pytest.fixture
def default() -> EffectivePolicy:
    """The policy a run has when none is named."""
    return shipped("default")
