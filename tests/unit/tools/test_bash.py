from __future__ import annotations

import signal
from typing import Any

import pytest

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest
from orchestrator.tools.bash import BashTool
from orchestrator.tools.tool import ArgumentError, Rendered, ToolContext

REQUEST = ExecRequest("x", "/workspace", 120.0)


def render(head: str = "", **fields: Any) -> Rendered:
    data = {
        "exit_code": 0,
        "signal": None,
        "timed_out": False,
        "cancelled": False,
        "head": head,
        "tail": "",
        "total_bytes": len(head.encode()),
        "total_lines": head.count("\n"),
        "spill": None,
        "duration_ms": 1.5,
        "limit": None,
    }
    return BashTool().render(REQUEST, Outcome({**data, **fields}))


@pytest.mark.parametrize(
    ("given", "timeout_s"),
    [({}, 120.0), ({"timeout": 5}, 5.0), ({"timeout": "7"}, 7.0), ({"timeout": 10**9}, 600.0)],
)
def test_time_out_has_a_default_and_policys_limit(
    context: ToolContext, given: dict[str, Any], timeout_s: float
) -> None:
    """More than policy allows is brought down to it."""
    planned = BashTool().plan({"command": "ls", **given}, context)

    assert planned == ExecRequest("ls", "/workspace", timeout_s)


def test_default_gives_way_to_a_lower_limit() -> None:
    """The limit holds for calls that name no number, too."""
    context = ToolContext("/workspace", max_timeout_s=30.0)

    assert BashTool().plan({"command": "ls"}, context) == ExecRequest("ls", "/workspace", 30.0)


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), "soon"])
def test_time_out_that_is_none_is_refused(context: ToolContext, timeout: object) -> None:
    """A command always ends."""
    with pytest.raises(ArgumentError, match="timeout"):
        BashTool().plan({"command": "ls", "timeout": timeout}, context)


def test_command_is_passed_as_it_is(context: ToolContext) -> None:
    """What is judged is what the model wrote."""
    command = " echo 'a\r\n\x1b[2J' # \u202e"

    assert BashTool().plan({"command": command}, context) == ExecRequest(
        command, "/workspace", 120.0
    )


def test_output_alone_is_the_result() -> None:
    """Success needs no words."""
    rendered = render("one\ntwo\n")

    assert (rendered.output, rendered.is_error) == ("one\ntwo", False)


@pytest.mark.parametrize("head", ["", "\n", "\x1b[0m\r\n"])
def test_no_output_is_said(head: str) -> None:
    """A model takes an empty result for a failure."""
    assert render(head).output == "(no output)"


def test_exit_code_is_an_error_with_its_output() -> None:
    """What was printed is the reason."""
    rendered = render("oops\n", exit_code=2)

    assert (rendered.output, rendered.is_error) == ("oops\n[exit code 2]", True)
    assert rendered.details["exit_code"] == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"exit_code": None, "signal": signal.SIGKILL.value}, "[killed by signal 9 SIGKILL]"),
        ({"exit_code": None, "signal": 99}, "[killed by signal 99]"),
        ({"exit_code": None, "timed_out": True}, "[timed out after 120 s and was ended]"),
        ({"exit_code": None, "cancelled": True}, "[cancelled]"),
        (
            {"exit_code": None, "limit": "memory"},
            "[ended: the memory limit of the box was reached]",
        ),
        ({"exit_code": 0, "limit": "disk"}, "[ended: the disk budget of the box was used up]"),
        (
            {"exit_code": 0, "limit": "disk", "limit_note": "2 of 1; \x1b[2J\udc80"},
            "[ended: the disk budget of the box was used up: 2 of 1; \u241b[2J\ufffd]",
        ),
    ],
)
def test_every_other_end_is_an_error_that_says_so(fields: dict[str, Any], words: str) -> None:
    """Output so far is kept."""
    rendered = render("partial\n", **fields)

    assert rendered.output == f"partial\n{words}"
    assert rendered.is_error


def test_command_that_could_only_remove_says_why() -> None:
    """Also one that succeeded: what it wrote nowhere, it may not have told."""
    rendered = render("", full="used up; most in /w/a\x1b[2J")

    assert rendered.output == "(no output)\n[when this began: used up; most in /w/a\u241b[2J]"
    assert not rendered.is_error


def test_long_output_names_the_file_that_has_it_all() -> None:
    """The next call can be copied from the notice."""
    rendered = render(
        "a\nb\n",
        tail="y\nz\n",
        total_bytes=1000,
        total_lines=500,
        spill="/tmp/.glovebox-spill/7.log",
    )

    assert rendered.output.split("\n") == [
        "a",
        "b",
        "[... 992 bytes left out ...]",
        "y",
        "z",
        (
            "[output cut: first 2 and last 2 of 500 lines, 1000 bytes; "
            "full output: read path=/tmp/.glovebox-spill/7.log offset=3]"
        ),
    ]
    assert rendered.details["truncated"] is True


def test_long_output_without_a_file_says_that_it_is_gone() -> None:
    """A full disk may end the spill; nothing is promised then."""
    rendered = render("a\n", tail="z\n", total_bytes=1000, total_lines=500)

    assert "was not kept" in rendered.output


def test_colours_and_progress_are_gone() -> None:
    """The model reads text."""
    rendered = render("\x1b[32mok\x1b[0m\n 10%\r 99%\r100%\r\n")

    assert rendered.output == "ok\n100%"


def test_box_error_is_an_error() -> None:
    """A command that could not be started."""
    rendered = BashTool().render(REQUEST, Outcome(error="the box is gone", code="gone"))

    assert (rendered.output, rendered.is_error) == ("the box is gone", True)
