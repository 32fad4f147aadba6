from __future__ import annotations

from typing import Any

import pytest

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
)
from orchestrator.tools.process import QUIET_S, SETTLE_S, ProcessTool
from orchestrator.tools.tool import ArgumentError, Rendered, ToolContext

RUNNING = {"running": True, "exit_code": None, "signal": None, "limit": None, "duration_ms": 1500.0}
SETTLE = Look(SETTLE_S, QUIET_S)


LOOKED = ProcessOutput("web")


def render(request: Any = LOOKED, **fields: Any) -> Rendered:
    data = {
        **RUNNING, "text": "", "start": 0, "next": 0, "lost": 0, "skipped": 0, "more": 0,
        "unread": 0, "why": "time",
    }  # fmt: skip
    return ProcessTool().render(request, Outcome({**data, **fields}))


@pytest.mark.parametrize(
    ("arguments", "planned"),
    [
        ({"action": "start", "command": "npm run dev"}, ProcessStart("npm run dev", "/workspace", look=SETTLE)),
        (
            {"action": "start", "command": "x", "id": "web", "pty": True, "waitFor": "up", "timeout": 9},
            ProcessStart("x", "/workspace", "web", terminal=True, look=Look(9.0, pattern="up")),
        ),
        ({"action": "list"}, ProcessList()),
        ({"action": "output", "id": "web"}, ProcessOutput("web", Look(0.0))),
        ({"action": "output", "id": "web", "since": 7}, ProcessOutput("web", Look(0.0, since=7))),
        ({"action": "output", "id": "a", "waitFor": "x"}, ProcessOutput("a", Look(30.0, pattern="x"))),
        ({"action": "input", "id": "web", "text": "y\n"}, ProcessInput("web", "y\n", look=SETTLE)),
        ({"action": "input", "id": "web", "eof": True}, ProcessInput("web", "", eof=True, look=SETTLE)),
        ({"action": "signal", "id": "web"}, ProcessSignal("web", "TERM", Look(SETTLE_S))),
        ({"action": "signal", "id": "web", "signal": "INT"}, ProcessSignal("web", "INT", Look(SETTLE_S))),
    ],
)  # fmt: skip
def test_actions_become_requests(
    context: ToolContext, arguments: dict[str, Any], planned: object
) -> None:
    """With times that suit the action where none is named."""
    assert ProcessTool().plan(arguments, context) == planned


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"action": "begin"}, "action"),
        ({"action": "start"}, "command: missing for start"),
        ({"action": "output"}, "id: missing for output"),
        ({"action": "input", "id": "a"}, "text: missing for input"),
        ({"action": "start", "command": "x", "id": "../a b"}, "id"),
        ({"action": "output", "id": "a", "waitFor": "(x"}, "not a regular expression"),
        ({"action": "output", "id": "a", "waitFor": "x" * 501}, "waitFor"),
        ({"action": "output", "id": "a", "timeout": -1}, "timeout"),
        ({"action": "signal", "id": "a", "signal": "WINCH"}, "signal"),
    ],
)
def test_wrong_arguments_are_told(
    context: ToolContext, arguments: dict[str, Any], words: str
) -> None:
    """Field by field, and nothing is done."""
    with pytest.raises(ArgumentError) as error:
        ProcessTool().plan(arguments, context)

    assert words in str(error.value)


def test_waiting_is_bounded_by_policy() -> None:
    """A call never takes longer than a command may."""
    planned = ProcessTool().plan(
        {"action": "output", "id": "a", "timeout": 9000}, ToolContext("/workspace", 60.0)
    )

    assert planned == ProcessOutput("a", Look(60.0))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "[web is running, 1.5 s so far]"),
        ({"running": False, "exit_code": 3}, "[web ended after 1.5 s with exit code 3]"),
        ({"running": False, "signal": 15}, "[web ended after 1.5 s by SIGTERM]"),
        ({"running": False, "signal": 9, "limit": "disk"},
         "[web was ended after 1.5 s: the disk budget of the box was used up]"),
    ],
)  # fmt: skip
def test_state_is_the_last_line(fields: dict[str, Any], line: str) -> None:
    """Running or how it ended."""
    assert render(text="a\n", **fields).output == f"a\n{line}"


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("match", "waitFor was found"),
        ("time", "waitFor was not found within 5 s"),
        ("slow", "use a simpler one"),
        ("broken", "could not be matched"),
        ("cancelled", "waiting was cancelled"),
    ],
)
def test_end_of_waiting_is_told(why: str, words: str) -> None:
    """The model knows whether what it waited for came."""
    rendered = render(ProcessOutput("web", Look(5.0, pattern="x")), why=why)

    assert words in rendered.output
    assert rendered.is_error == (why in {"slow", "broken"})


def test_what_is_left_out_is_told_with_the_way_to_it() -> None:
    """Lost, skipped and following bytes, and input that waits."""
    rendered = render(text="x", start=500, next=501, lost=100, skipped=400, more=9, unread=3)

    assert rendered.output.splitlines() == [
        "[100 bytes before this are not kept any more]",
        "[400 bytes left out; since=100 shows them]",
        "x",
        "[9 more bytes; go on with since=501]",
        "[it has not read 3 bytes of its input]",
        "[web is running, 1.5 s so far]",
    ]


def test_unfinished_line_is_pointed_out() -> None:
    """The usual slip: no newline, and nothing happens."""
    assert "not ended with \\n" in render(ProcessInput("web", "print(1)")).output
    assert "not ended" not in render(ProcessInput("web", "print(1)\n")).output


def test_failed_start_is_an_error() -> None:
    """A server that ended at once did not start; one that ran through did."""
    ended = {"running": False, "why": "ended"}

    assert render(ProcessStart("x", "/w", "web"), exit_code=1, **ended).is_error
    assert not render(ProcessStart("x", "/w", "web"), exit_code=0, **ended).is_error
    assert not render(ProcessStart("x", "/w", "web")).is_error


def test_terminal_control_is_taken_out() -> None:
    """In output, and in the names and commands of a list."""
    item = {"handle": "web", "command": "ls\x1b[31m", "terminal": True, "unseen": 3, **RUNNING}
    listed = ProcessTool().render(ProcessList(), Outcome({"processes": [item]}))

    assert "\x1b" not in render(text="\x1b[31mred\x1b[0m\x07").output
    assert listed.output.startswith("web: ls")
    assert "\x1b" not in listed.output
    assert "(pty), is running, 1.5 s so far, 3 new bytes" in listed.output


def test_empty_list_says_how_to_begin() -> None:
    """Not an empty result."""
    assert (
        "start begins one" in ProcessTool().render(ProcessList(), Outcome({"processes": []})).output
    )
