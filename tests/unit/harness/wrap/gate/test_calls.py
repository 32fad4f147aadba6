"""What a hook's event says, as a request that policy knows."""

import pytest

from orchestrator.harness.wrap.gate.calls import NotAskedError, parse_call
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    Replacement,
    WriteRequest,
)


def parsed(tool, given, cwd="/workspace/sub", client="claude"):
    event = {"tool_name": tool, "tool_input": given, "hook_event_name": "PreToolUse", "x": 1}
    return parse_call({"client": client, "event": event, "cwd": cwd}, workdir="/workspace")


@pytest.mark.parametrize(
    ("tool", "given", "known_as", "request_"),
    [
        ("Bash", {"command": "ls -l"}, "bash", ("ls -l", "/workspace/sub")),
        ("exec_command", {"cmd": "a", "workdir": "/tmp"}, "bash", ("a", "/tmp")),
        ("shell", {"command": ["a b", "c"], "workdir": "x"}, "bash", ("'a b' c", "/workspace/sub/x")),
        ("functions.run_shell_command", {"command": "id"}, "bash", ("id", "/workspace/sub")),
    ],
)  # fmt: skip
def test_commands_of_every_client_are_commands(tool, given, known_as, request_):
    """Lists are quoted, other directories kept."""
    call = parsed(tool, given)

    assert call.known_as == known_as
    assert isinstance(call.request, ExecRequest)
    assert (call.request.command, call.request.cwd) == request_


@pytest.mark.parametrize(
    ("tool", "given", "request_"),
    [
        ("Read", {"file_path": "/etc/passwd"}, ReadRequest("/etc/passwd")),
        ("read", {"path": "a"}, ReadRequest("/workspace/sub/a")),
        ("Write", {"file_path": "/w", "content": "x"}, WriteRequest("/w", "x")),
        (
            "Edit",
            {"file_path": "/w", "old_string": "a", "new_string": "b", "replace_all": True},
            EditRequest("/w", (Replacement("a", "b"),), True),
        ),
        (
            "edit",
            {"path": "/w", "edits": [{"oldText": "a", "newText": "b"}]},
            EditRequest("/w", (Replacement("a", "b"),)),
        ),
        ("Grep", {"pattern": "x"}, GrepRequest("x", "/workspace/sub")),
        ("Glob", {"pattern": "*", "path": "/p"}, FindRequest("*", "/p")),
        ("ls", {}, ListRequest("/workspace/sub")),
    ],
)
def test_file_tools_of_every_client_are_file_tools(tool, given, request_):
    """With the path made absolute."""
    assert parsed(tool, given).request == request_


def test_other_tools_are_judged_by_their_names():
    """In lower case, as policies write them."""
    call = parsed("WebFetch", {"url": "http://x"})

    assert (call.tool, call.known_as, call.request) == ("WebFetch", "webfetch", None)


def test_directory_that_is_none_is_the_workspace():
    """The box's word is not taken for more than it is."""
    assert parsed("Bash", {"command": "a"}, cwd="elsewhere").request.cwd == "/workspace"
    assert parsed("Bash", {"command": "a"}, cwd="/a\0b").request.cwd == "/workspace"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {}),
        ("Bash", {"command": " "}),
        ("Bash", {"command": ["a", 1]}),
        ("Bash", {"command": "x" * (1024 * 1024 + 1)}),
        ("Read", {}),
        ("Read", {"file_path": "/a\0b"}),
        ("Write", {"file_path": "/a"}),
        ("Edit", {"file_path": "/a", "edits": ["x"]}),
        ("Grep", {"path": "/a"}),
    ],
)
def test_call_without_what_it_needs_is_none(tool, given):
    """Nothing is guessed."""
    with pytest.raises(NotAskedError):
        parsed(tool, given)


@pytest.mark.parametrize("event", [None, "x", {}, {"tool_name": ""}, {"tool_name": "a" * 201}])
def test_event_that_is_none_is_refused(event):
    """With the place of what is wrong."""
    with pytest.raises(NotAskedError):
        parse_call({"client": "claude", "event": event}, workdir="/workspace")
