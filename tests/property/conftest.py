from pathlib import Path

import pytest

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.load import load_policy

ROOT = Path(__file__).parents[2]


def _shipped(name: str) -> EffectivePolicy:
    return load_policy(
        [name], search=ROOT / "policies", user_file=None, system_file=ROOT / "no-such-file"
    )


@pytest.fixture(scope="session")
def default() -> EffectivePolicy:
    """The policy a run has when none is named."""
    return _shipped("default")


@pytest.fixture(scope="session")
def yolo() -> EffectivePolicy:
    """The policy of those who do not want to be asked."""
    return _shipped("yolo")
