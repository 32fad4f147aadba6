"""What a question shows: everything that will run, nothing that moves the cursor."""

import unicodedata

import pytest

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.question_text import render_prompt, render_question
from orchestrator.confirmation.warnings import warnings
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest
from orchestrator.schema.likeness import Likeness, Pattern


def question(subject: str, **changes) -> Question:
    decision = changes.pop("decision", Decision("ask", "risk:destructive", "session", "deletes"))
    return Question(
        id="ask-1",
        call="1",
        tool="bash",
        subject=subject,
        cwd="/workspace",
        decision=decision,
        digest=Digest("sha256:0"),
        **changes,
    )


def shown(subject: str, columns: int = 80, **changes) -> str:
    return "\n".join(render_question(question(subject, **changes), columns))


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("echo ok\x1b[2K\x1b[1A; git push", r"\x1b[2K\x1b[1A"),
        ("rm -rf /\recho harmless", r"\r"),
        ("a\x9b2Kb\x9dc", r"\x9b"),
        ("echo \u202eevil\u2066x\u2069", r"\u202e"),
        ("rm\u200b -rf src", r"\u200b"),
    ],
)
def test_hidden_characters_are_shown_as_escapes_with_a_warning(raw, escaped):
    """No byte of the command can move the cursor or hide."""
    text = shown(raw)

    assert escaped in text
    assert not set(text) & set("\x1b\r\x9b\x9d\u202e\u2066\u200b")
    assert "warning: it holds hidden" in text


def test_a_reason_with_escapes_is_treated_like_the_command():
    """Words from anywhere get the same care."""
    decision = Decision("ask", "r", "session", "look\x1b[2J here")

    assert "\x1b" not in shown("ls", decision=decision)


def test_a_long_command_is_wrapped_and_whole():
    """130 characters on 80 columns lose nothing."""
    command = "echo " + "x" * 125
    rows = render_question(question(command), 80)

    assert all(len(row) <= 80 for row in rows)
    assert command in "".join(row.removeprefix("┃ ") for row in rows).replace("  echo", "echo")


def test_padding_blanks_become_a_count_and_the_tail_is_visible():
    """Nothing can be pushed off the screen by blanks."""
    text = shown("ls" + " " * 300 + "; rm -rf src")

    assert "300 blanks" in text
    assert "; rm -rf src" in text


def test_padding_lines_become_a_count_and_the_tail_is_visible():
    """Nothing can be pushed off the screen by empty lines."""
    text = shown("echo safe" + "\n" * 60 + "git push --force")

    assert "more empty lines" in text
    assert "git push --force" in text


def test_an_empty_command_warns():
    """A bare prompt is never shown."""
    assert "the command is empty" in shown("  ")


def test_session_scope_is_offered_only_where_it_may_be_remembered():
    """A rule that asks each time anew offers no memory."""
    always = Decision("ask", "r", "session", "x", always=True)

    assert "session ends" in shown("ls", session="a" * 12)
    assert "s, " in render_prompt(question("ls", session="a" * 12))
    assert "session ends" not in shown("ls", session="a" * 12, decision=always)
    assert "s, " not in render_prompt(question("ls", session="a" * 12, decision=always))


def cells(row):
    """Return the screen columns of a row, counted apart from the code that made it."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in row)
    return len(row) + wide


@pytest.mark.parametrize(
    "filler", ["x", "\t.", "語", "a語\t"], ids=["ascii", "tabs", "wide", "mixed"]
)
def test_no_row_is_wrapped_by_the_terminal_itself(filler):
    """A wrapped row would begin without the frame, with words the agent chose."""
    rows = render_question(question(filler * 200 + "why asked: routine"), 40)

    assert all(cells(row) <= 40 for row in rows)
    assert all(row.startswith("┃") for row in rows[1:])


@pytest.mark.parametrize("columns", [7, 10, 20])
def test_narrow_screen_is_not_overrun(columns):
    """No row begins without the frame on a small window either."""
    rows = render_question(question("x" * 100 + "why asked: routine"), columns)

    assert all(cells(row) <= columns for row in rows)
    assert all(row.startswith("┃") for row in rows[1:])


def test_offending_part_and_further_findings_are_shown():
    """What the gate saw, in the words of the command and of policy."""
    decision = Decision(
        "ask", "r\x1b", "session", "why", span=(6, 14), notes=("writes /etc", "also\r that")
    )
    text = shown("true; git push", decision=decision)

    assert "part: git push" in text
    assert "also: writes /etc" in text
    assert "also: also\\r that" in text
    assert "(session: r\\x1b)" in text


def test_question_of_its_own_is_asked_as_it_stands():
    """A directory is no tool."""
    vouch = Question("a1b2", "v", "do you vouch?", "/p", "/p", Decision("ask", "r", "l", "x"), "d")

    assert render_question(vouch, 80)[1] == "┃ glovebox asks: do you vouch?"
    assert render_question(question("ls"), 80)[1] == "┃ glovebox asks: may the agent use bash?"


def test_content_is_shown_whole_below():
    """A file to be written, line by line, escaped."""
    text = shown("/workspace/a", body="one\ntwo\x1b[2J")

    assert "┃   one\n┃   two\\x1b[2J" in text


def test_scope_that_policy_does_not_offer_is_not_offered():
    """Only once, where policy says so."""
    assert "session ends" not in shown("ls", session="a" * 12, scopes=("once",))


def test_what_each_answer_is_kept_for_is_said_the_narrowest_first():
    """Nobody has to know what a letter means; policy's order does not matter."""
    text = shown("ls", session="a" * 12, scopes=("project", "1h", "30m", "session"))
    keys = [line.split()[1] for line in text.splitlines() if " yes: " in line]

    assert keys == ["y", "s", "30m", "1h", "p"]
    assert "glovebox approvals answer ask-1" in text


def test_wider_yes_is_offered_with_what_else_it_allows():
    """And never where nothing may be remembered."""
    likeness = Likeness(pattern=Pattern(("git", "push", "origin", None), "/workspace"))
    text = shown("git push origin x", columns=100, session="a" * 12, likeness=likeness)

    assert "s*  yes, and for this too, however it is written: git push origin <one word>" in text
    assert "<one word> is any name: no option, glob, .. or a:b" in text
    once = shown("git push origin x", session="a" * 12, likeness=likeness, scopes=("once",))
    assert "however" not in once


def test_effects_are_told_in_plain_words_and_escaped():
    """What would happen, a line each."""
    text = shown("x", likeness=Likeness(("runs rm -rf build", "writes a\x1b[2J")))

    assert "effect: runs rm -rf build" in text
    assert "effect: writes a\\x1b[2J" in text


def test_nothing_is_told_twice():
    """A question that repeats itself is not read."""
    decision = Decision("ask", "r", "session", "deletes", notes=("risk:upload: sends", "else"))
    effects = ("destructive: deletes", "upload: sends", "writes a")
    text = shown("x", decision=decision, likeness=Likeness(effects))

    assert text.count("deletes") == 1
    assert text.count("sends") == 1
    assert "also: else" in text


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("echo \u202e", "reverse the direction"),
        ("git push \u043erigin", r"look like others: \u043erigin"),
        ("curl https://\uff45xample.com", "look like others"),
    ],
)
def test_deceiving_text_has_a_warning_of_its_own(text, warning):
    """In the command and in content below it."""
    assert warning in shown(text, columns=120)
    assert "below, it holds" in shown("ok", columns=120, body=text)


@pytest.mark.parametrize("text", ["echo \u043f\u0440\u0438", "echo naïve café", "echo 日本語"])
def test_words_of_one_alphabet_have_no_warning(text):
    """Other languages are not tricks."""
    assert "warning" not in shown(text)
    assert warnings(text) == []


def test_answer_that_is_kept_says_for_what():
    """And offers no yes for once, as there is none."""
    prompt = render_prompt(question("FROM x", scopes=("once",), kept_for="this \x1bfile"))

    assert prompt == "┃ y = yes, n = no (default); kept for this \\x1bfile: "
