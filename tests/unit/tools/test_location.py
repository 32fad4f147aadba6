from __future__ import annotations

import pytest

from orchestrator.tools.location import locate
from orchestrator.tools.tool import ToolContext


@pytest.mark.parametrize(
    ("path", "located"),
    [
        ("a.txt", "/workspace/a.txt"),
        ("./a.txt", "/workspace/a.txt"),
        (".", "/workspace"),
        ("/etc/x", "/etc/x"),
        ("~", "/home/agent"),
        ("~/x", "/home/agent/x"),
        ("~x", "/workspace/~x"),
        ("sub/../a.txt", "/workspace/sub/../a.txt"),
        ("@types/a.ts", "/workspace/@types/a.ts"),
    ],
)
def test_path_becomes_absolute_and_keeps_its_dots(
    context: ToolContext, path: str, located: str
) -> None:
    """Only the box knows what dots and links mean."""
    assert locate(path, context) == located
