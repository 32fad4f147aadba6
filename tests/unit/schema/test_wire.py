"""Requests come back from their recorded form as they were."""

import pytest

from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
    ReadRequest,
    Replacement,
    WriteRequest,
    to_wire,
)
from orchestrator.schema.wire import from_wire

REQUESTS = [
    ExecRequest("git push", "/workspace", 3.0),
    ReadRequest("/workspace/a", resolved="/workspace/b"),
    WriteRequest("/workspace/a", "text"),
    EditRequest("/workspace/a", (Replacement("a", "b"),)),
    GrepRequest("x", "/workspace", ignore_case=True),
    FindRequest("*", "/workspace"),
    ListRequest("/workspace"),
    ProcessStart("bash", "/workspace", "p1", look=Look(pattern="ready")),
    ProcessOutput("p1"),
    ProcessInput("p1", "ls\n", pending=("a", "b")),
    ProcessSignal("p1", "KILL"),
    ProcessList(),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda item: item.kind)
def test_request_comes_back(request_):
    """Nested parts and defaults too."""
    assert from_wire(to_wire(request_)) == request_


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "kind: expected one of"),
        ({"kind": "reboot"}, "kind: expected one of"),
        ({"kind": "exec", "command": "ls", "cwd": "/"}, "timeout_s"),
        ({"kind": "ls", "path": ["x"]}, "path"),
    ],
)
def test_what_is_no_request_is_refused(data, words):
    """With the place."""
    with pytest.raises(ValueError, match=words):
        from_wire(data)
