"""Shipped policies as they are, whatever the machine of the tests has installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import ExecRequest

ROOT = Path(__file__).parents[2]


@cache
def shipped(name: str) -> EffectivePolicy:
    """Return a shipped policy alone, without layers of an organisation or a user."""
    return load_policy(
        [name], search=ROOT / "policies", user_file=None, system=OwnedFolder(ROOT / "none")
    )


def judge(policy: EffectivePolicy, command: str) -> Decision:
    """Return the decision on a command that the tool ``bash`` is asked to run."""
    return evaluate(policy, ExecRequest(command, "/workspace", 10), tool="bash")
