"""What is taken out of a session that is given away."""

from __future__ import annotations

from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.harness.giving_away import redaction


def test_keys_of_the_environment_are_known_whatever_they_look_like(tmp_path: Path) -> None:
    """And what looks like a secret is one."""
    environ = {"ANTHROPIC_API_KEY": "plain words of mine", "GLOVEBOX_STATE": str(tmp_path)}
    redact = redaction(Paths(tmp_path, tmp_path), environ)

    shown = redact({"a": ["x plain words of mine y"], "n": 3, "password": "hunter2-correct-horse"})

    assert "plain words" not in str(shown)
    assert "hunter2" not in str(shown)
    assert shown["n"] == 3
