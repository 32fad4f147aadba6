"""A SKILL.md in a few words."""

import pytest

from orchestrator.skills.manifest import parse_skill

TOOLS = ("read", "write", "edit", "bash", "grep", "find", "ls", "process")


@pytest.fixture
def head():
    """Parse a skill called tidy with further fields, and a body of its own where it is given."""

    def parse(*fields, body="Sweep.", description="Tidies up."):
        lines = ["---", "name: tidy", f"description: {description}", *fields, "---", body]
        return parse_skill("\n".join(lines), source="s/SKILL.md", folder="tidy", tools=TOOLS)

    return parse
