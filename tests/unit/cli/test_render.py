"""Events for people and for machines: nothing untrusted moves a cursor or passes for our words."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.render import GUTTER, SHOWN_LINES, WIDE, JsonLines, Progress
from orchestrator.confirmation.question_text import FRAME
from orchestrator.schema.event import (
    ApprovalRequest,
    DecisionMade,
    Egress,
    ErrorRaised,
    LimitReached,
    MessageDelta,
    MessageEnd,
    ModelCallInBox,
    Retry,
    SessionEnd,
    SessionStart,
    ToolEnd,
    ToolStart,
    ToolUpdate,
    TurnStart,
    UnexpectedExec,
)
from orchestrator.schema.head_event import (
    BudgetWarning,
    CompactionEnd,
    CompactionStart,
    ContextTrimmed,
    ModelChange,
    SkillChange,
)

EVIL = "\x1b[2J\x1b]0;t\x07\r\x08\x9b31m\u202e\u200b\x00"
"""Clears the screen, names the window, goes back, colours by C1, reorders, hides, ends."""
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(*events, colour=False, columns=WIDE):
    pieces = []
    progress = Progress(pieces.append, colour=colour, columns=lambda: columns)
    for event in events:
        progress(event)
    return "".join(pieces)


def ended(output, *, is_error=False):
    return ToolEnd("c", "bash", is_error, output, {}, 1.0)


def everywhere(text):
    """Return events that hold a text wherever somebody else chose it."""
    return (
        SessionStart(text, {"name": text}, text, {"controls": {text: True}}),
        MessageDelta("text", text),
        MessageDelta("thinking", text),
        MessageEnd({"content": text}),
        ToolStart("c", text, {"command": text}),
        ToolStart("c", "read", {"path": text}),
        ToolStart("c", "x", {text: [text]}),
        DecisionMade("c", "ask", text, text, text, answered_by=text),
        ToolUpdate("c", text),
        UnexpectedExec("c", (text,), text, (), text, text, text, ended=True),
        ended(text),
        ended(f"a\n{text}\nb", is_error=True),
        Retry(1, 5.0, text),
        LimitReached(text, 1.0),
        ErrorRaised(text, text, text),
        SessionEnd("done", 0, 1, {}, None, text),
        CompactionStart(text, 1),
        CompactionEnd("manual", 1, 1, text),
        ContextTrimmed(text, 1, 1),
        ModelChange(text, text, "fallback"),
        SkillChange(text, text),
        BudgetWarning(text, 0.5, 1.0, 2.0),
    )


@pytest.mark.parametrize("event", everywhere(EVIL), ids=lambda event: event.type)
def test_no_raw_control_byte_reaches_the_terminal(event):
    """Of output, model text, arguments, reasons and names."""
    assert UNSAFE.search(shown(event)) is None


@given(st.text())
def test_no_text_whatever_reaches_the_terminal_raw(text):
    """And none makes the renderer fail."""
    for event in everywhere(text):
        assert UNSAFE.search(shown(event)) is None


@given(st.text())
def test_colours_are_our_own_alone(text):
    """Taking away the codes that we write leaves no escape."""
    for event in everywhere(text):
        bare = re.sub(r"\x1b\[(?:0|1|2|31|33)m", "", shown(event, colour=True))
        assert UNSAFE.search(bare) is None


@given(st.text())
def test_every_line_of_output_stands_behind_the_gutter(text):
    """No output passes for a question or for our own words."""
    lines = shown(ended(text)).splitlines()

    assert lines
    assert all(line.startswith(GUTTER) for line in lines)


def test_output_that_looks_like_a_question_is_none():
    """The frame of real questions appears nowhere else, wherever it comes from."""
    fake = f"{FRAME}glovebox asks: may the agent use bash?\n{FRAME}y = once, n = no: "

    for event in everywhere(fake):
        assert FRAME.strip() not in shown(event)


@pytest.mark.parametrize(
    "letter", ["x", "\u4e00", "e\u0301", "\t"], ids=["ascii", "wide", "mark", "tab"]
)
@pytest.mark.parametrize("columns", [0, 20, 40, 80, 500])
def test_line_of_output_never_wraps_past_its_gutter(letter, columns):
    """What the terminal wraps would begin at the left, where our own words stand."""
    (line,) = shown(ended(letter * 700), columns=columns).splitlines()
    width = sum(2 if char == "\u4e00" else char != "\u0301" for char in line)

    assert line.startswith(GUTTER)
    assert width <= max(columns, 25)


def test_long_output_is_cut_in_lines_and_width():
    """Progress is no log; what is left out is counted."""
    output = "\n".join(["x" * 500] * (SHOWN_LINES + 5))
    lines = shown(ended(output)).splitlines()

    assert len(lines) == SHOWN_LINES + 1
    assert lines[0] == GUTTER + "x" * (WIDE - len(GUTTER) - 1) + "…"
    assert lines[-1] == f"{GUTTER}… 5 more lines"


def test_model_text_streams_as_it_comes_and_ends_with_its_line():
    """Pieces are joined; what follows begins on a line of its own."""
    text = shown(
        MessageDelta("text", "one "),
        MessageDelta("text", "two\nthree"),
        MessageEnd({}),
        ToolStart("c", "bash", {"command": "ls"}),
    )

    assert text == "one two\nthree\n● bash ls\n"


def test_call_that_begins_amid_the_stream_breaks_the_line():
    """No call hides at the end of a sentence."""
    assert shown(MessageDelta("text", "so"), ToolStart("c", "ls", {})) == "so\n● ls {}\n"


def test_thoughts_and_silent_events_are_not_shown():
    """They are in the events and the session."""
    silent = (
        MessageDelta("thinking", "hm"),
        TurnStart(1),
        ToolUpdate("c", "x"),
        MessageEnd({}),
        DecisionMade("c", "allow", "r", "session", "fine"),
        ApprovalRequest("a", "c", {}),
        SessionEnd("done", 0, 1, {}, None, "answer"),
    )

    assert shown(*silent) == ""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"command": "ls -l"}, "● t ls -l\n"),
        ({"path": "a", "content": "long"}, "● t a\n"),
        ({"pattern": "x.*"}, "● t x.*\n"),
        ({"other": "é"}, '● t {"other": "é"}\n'),
        (None, "● t {}\n"),
    ],
)
def test_call_is_shown_by_what_matters_most(arguments, line):
    """The command, the path, the pattern, else everything."""
    assert shown(ToolStart("c", "t", arguments)) == line


def test_newline_in_a_command_does_not_end_the_line():
    """A second line would look like our own."""
    assert shown(ToolStart("c", "bash", {"command": "ls\nrm x"})) == "● bash ls\\nrm x\n"


def test_refusals_retries_limits_and_errors_are_told():
    """With rule and reason, with the wait, with the hint."""
    text = shown(
        DecisionMade("c", "deny", "no-push", "org", "no pushing"),
        DecisionMade("c", "ask", "r", "org", "why", answered_by="nobody"),
        Retry(2, 1500.0, "overloaded"),
        LimitReached("steps", 200.0),
        LimitReached("tokens", 2_000_000, "session"),
        LimitReached("cost_per_day", 0.5, "day"),
        ErrorRaised("model", "it broke", "mend it"),
        ErrorRaised("model", "again"),
    )

    assert text.splitlines() == [
        "  policy: deny (no-push): no pushing",
        "  policy: ask (r, answered by nobody): why",
        "  retry 2 in 1.5 s: overloaded",
        "limit reached: steps (200)",
        (
            "limit reached: tokens (2,000,000 of the whole session); policy sets it, and a copy of the "
            "session (--fork) begins anew"
        ),
        (
            "limit reached: cost_per_day (0.5 of all sessions today (UTC)); it begins anew at midnight "
            "UTC, when the day it is counted for is over"
        ),
        "model: it broke",
        "  mend it",
        "model: again",
    ]


def test_budget_and_compaction_are_told_on_lines_of_their_own():
    """Also amid what the model is saying; a fallback is told by its note alone."""
    text = shown(
        MessageDelta("text", "one"),
        BudgetWarning("cost", 0.8, 0.4, 0.5),
        MessageDelta("text", "two"),
        ErrorRaised("model", "it broke"),
        CompactionStart("threshold", 9000),
        CompactionEnd("threshold", 9000, 700),
        ContextTrimmed("tool_results", 3, 500),
        ModelChange("m/two", None, "fallback"),
    )

    assert text.splitlines() == [
        "one",
        "  80% of money used: $0.4000 of $0.5000",
        "two",
        "model: it broke",
        "  summarising the conversation (threshold, 9000 tokens)",
        "  summarised: 9000 → 700 tokens",
        "  left out of the request: 3 tool_results (500 tokens)",
    ]


def test_start_counts_the_controls_that_hold():
    """One that does not is not counted."""
    start = SessionStart("m", {"name": "default"}, "i", {"controls": {"a": True, "b": False}})

    assert shown(start) == "box up · m · policy default · 1 controls proved\n"


def test_failed_call_is_red_and_others_are_dim():
    """Colour says at a glance."""
    assert shown(ended("x", is_error=True), colour=True).startswith("\x1b[31m")
    assert shown(ended("x"), colour=True).startswith("\x1b[2m")


def lines_of(*events):
    pieces = []
    printer = JsonLines(pieces.append, "0123456789ab")
    for event in events:
        printer(event)
    return pieces


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def test_json_lines_count_from_zero_and_carry_the_head():
    """type, seq, time and session, in every line."""
    first, second = map(json.loads, lines_of(TurnStart(1), TurnStart(2)))

    assert (first["seq"], second["seq"]) == (0, 1)
    assert (first["type"], first["session"], first["turn"]) == ("turn_start", "0123456789ab", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])


@given(st.text())
def test_json_line_is_one_line_of_strict_json_with_the_text_whole(text):
    """Whatever reader splits it, on whatever character; nothing raw acts on a terminal."""
    (line,) = lines_of(ended(text))

    assert line.endswith("\n")
    assert line.splitlines() == [line[:-1]]
    assert UNSAFE.search(line[:-1]) is None
    assert line.encode()
    assert json.loads(line, parse_constant=refuse)["output"] == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_number_that_is_no_json_becomes_a_word(number):
    """A model can send it as an argument; readers would fail on it."""
    (line,) = lines_of(ToolStart("c", "bash", {"timeout": number}))

    assert json.loads(line, parse_constant=refuse)["arguments"]["timeout"] == repr(number)


def test_half_a_character_becomes_a_visible_mark():
    """In keys, values and lists; strict readers refuse it."""
    (line,) = lines_of(ToolStart("c", "x", {"\ud83d": ["\udc00", ("a",)], "n": None}))

    assert json.loads(line)["arguments"] == {"\ufffd": ["\ufffd", ["a"]], "n": None}
    assert "ud83d" not in line


def out(effect, **more):
    facts = {"host": "evil.example", "port": 443, "scheme": "https", "method": "GET", "path": "/x"}
    given = facts | {"effect": effect, "rule": "unmatched", "layer": "floor", "reason": "no rule"}
    return Egress(**given | more)


def test_refused_request_is_told_with_its_rule():
    assert shown(out("deny")) == (
        "  network: refused GET https://evil.example:443/x (unmatched): no rule\n"
    )
    assert "refused connect https://evil.example:443 (" in shown(out("deny", method=None, path=""))
    assert "refused look up evil.example (" in shown(out("deny", port=0, method=None, path=""))
    unreadable = out("deny", host="(unreadable)", port=0, method=None, path="")
    assert "refused a request that cannot be read (" in shown(unreadable)


def test_request_that_was_let_out_is_not_told():
    """A build makes thousands of them; `audit egress` sums them up."""
    assert shown(out("allow")) == ""


def test_refused_request_moves_no_cursor():
    assert not UNSAFE.search(shown(out("deny", path=EVIL, reason=EVIL, host=EVIL)).rstrip("\n"))


def model_call(effect, **more):
    facts = {"number": 1, "provider": "", "model": "", "asked": "gpt-nano", "path": "/v1/responses"}
    result = {"status": None, "usage": {}, "estimated": False, "cost_usd": None}
    sizes = {"bytes_up": 0, "bytes_down": 0, "duration_ms": 0.0}
    told = {"effect": effect, "rule": "models.allow", "reason": "it is not allowed"}
    return ModelCallInBox(**facts | result | sizes | told | more)


def test_model_that_the_box_may_not_ask_is_told_with_its_rule():
    """By the name that the program gave, or by the path where it gave none."""
    assert (
        shown(model_call("deny")) == "  model: refused gpt-nano (models.allow): it is not allowed\n"
    )
    assert "refused /v1/responses (" in shown(model_call("deny", asked=""))
    assert shown(model_call("allow")) == ""
    assert not UNSAFE.search(shown(model_call("deny", asked=EVIL, reason=EVIL)).rstrip("\n"))
