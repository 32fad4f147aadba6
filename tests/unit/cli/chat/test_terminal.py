"""A chat's surface on a pseudo-terminal, played by keys and read off the screen."""

import json
import os
import stat
from contextlib import suppress

import anyio
import pytest

from orchestrator.cli.chat.surface import Said
from orchestrator.cli.chat.terminal import terminal_fits
from orchestrator.confirmation.gate import Answer
from orchestrator.schema.event import (
    MessageDelta,
    MessageEnd,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from tests.support.asking import question
from tests.support.chat_seat import strange

HOSTILE = (
    "\x1b]52;c;cm0gLXJmIC8=\x07\x1b[2J\x1b[6n\x9b31m\u202eevil\x1b[?1000h\r\x1bP1$r0m\x1b\\ end"
)


def message(text):
    content = [{"type": "text", "text": text}]
    return MessageEnd({"role": "assistant", "stop_reason": "end_turn", "content": content})


def test_lines_are_said_one_after_the_other(sit):
    """What was said stays in the scrollback, and the input is empty again."""

    async def scene(seat):
        seat.type("hello\r")
        assert await seat.said() == Said("hello")
        seat.type("two\nlines\\\rmore\r")
        assert await seat.said() == Said("two\nlines\nmore")
        await seat.until("  more")

    seat = sit(scene)

    assert [line for line in seat.lines() if line][1:] == ["» hello", "» two", "  lines", "  more"]


def test_words_stream_above_the_input_while_it_is_typed_into(sit):
    """Whole lines scroll by, the unfinished one grows, and the draft stays."""

    async def scene(seat):
        show = seat.surface.observer("s")
        show(TurnStart(1))
        seat.type("my draft")
        for number in range(40):
            show(MessageDelta("text", f"line {number}\n"))
        show(MessageDelta("text", "the last "))
        await seat.until("» my draft")
        await seat.until("the last")
        show(MessageDelta("text", "words"))
        await seat.until("the last words")
        assert seat.text().rstrip().endswith("the last words\n» my draft\n  m/one · /help")
        show(message("x"))
        show(TurnEnd(1, "end_turn", {"input": 250, "output": 50}, 300))
        await seat.until("m/one · 300 tokens (30%) · /help")

    seat = sit(scene)
    shown = [line for line in seat.lines() if line.startswith("line ")]

    assert shown == [f"line {number}" for number in range(40)]
    assert seat.text().count("the last words") == 1


def test_nothing_of_the_model_or_the_box_reaches_the_terminal_raw(sit):
    """Not streamed, not as output, not in a diff, a thought, a name or a draft."""

    async def scene(seat):
        show = seat.surface.observer("s")
        for char in HOSTILE:
            show(MessageDelta("text", char))
        show(MessageDelta("thinking", HOSTILE))
        show(message(HOSTILE))
        seat.surface.fold()
        show(ToolStart("c1", HOSTILE, {"command": HOSTILE}))
        show(ToolEnd("c1", "edit", False, HOSTILE, {"diff": f"+{HOSTILE}\n"}, 1.0))
        seat.talk.shown = {"model": HOSTILE}
        seat.surface.draft(HOSTILE)
        await seat.look(0.3)
        seat.type("\r")
        await seat.said()
        await seat.look(0.3)

    seat = sit(scene, colour=True)

    assert strange(seat.written) == []
    assert "evil" in seat.text()


def test_question_takes_the_terminal_and_gives_it_back(sit):
    """What happens meanwhile is shown after it; the draft is where it was."""

    async def scene(seat):
        answers = []
        seat.type("half a dra")
        await seat.until("half a dra")
        show = seat.surface.observer("s")
        show(ToolStart("c1", "bash", {"command": "git push"}))

        async def ask():
            answers.append(await seat.surface.person().ask(question("git push"), timeout_s=20))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            text = await seat.until("(default):")
            assert text.index("● bash git push") < text.index("glovebox asks")
            assert "half a dra" not in text
            seat.surface.note("meanwhile")
            await seat.look(0.2)
            assert "meanwhile" not in seat.text()
            seat.type("y\r")
        await seat.until("half a dra")
        seat.type("ft\r")
        assert await seat.said() == Said("half a draft")
        [answer] = answers
        assert isinstance(answer, Answer)
        assert answer.yes

    lines = sit(scene, size=(90, 40)).lines()

    assert lines.index("meanwhile") > next(
        i for i, line in enumerate(lines) if "(default): y" in line
    )


def test_question_waits_until_nobody_types(sit):
    """Keys meant for the input line go there, and answer nothing; nor does a paste."""

    async def scene(seat):
        answers = []

        async def ask():
            answers.append(await seat.surface.person().ask(question("git push"), timeout_s=20))

        seat.type("\x1b[200~a paste that")
        await seat.look(0.2)
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await seat.look(0.7)
            assert "glovebox asks" not in seat.text()
            seat.type("\ny\n\x1b[201~")
            for _ in range(4):
                await seat.look(0.2)
                seat.type("y")
            await seat.until("yyyy")
            assert "glovebox asks" not in seat.text()
            await seat.until("(default):")
            seat.type("\x1b[200~y\r\x1b[201~")
            await seat.until("what is pasted is no answer")
            seat.type("n\r")
        seat.type("\r")
        assert await seat.said() == Said("a paste that\ny\nyyyy")
        assert not answers[0].yes

    assert strange(sit(scene, size=(90, 40)).written) == []


def test_paste_with_its_own_end_mark_says_nothing(sit):
    """It lies in the input line until Enter is pressed."""

    async def scene(seat):
        seat.type("\x1b[200~one\x1b[201~\r/quit\r\x04\x1b[201~")
        await seat.until("/quit")
        seat.type("\r")
        assert (await seat.said()).text.startswith("one\n/quit\n")

    sit(scene)


def test_long_paste_is_taken_whole_and_shown_in_short(sit):
    text = "".join(f"line {number} of a long text\n" for number in range(8000)).rstrip()

    async def scene(seat):
        data = f"\x1b[200~{text}\x1b[201~".encode()
        await seat.look()
        while data:
            # As much as the terminal takes at once.
            with suppress(BlockingIOError):
                data = data[os.write(seat.ours, data) :]
            await seat.look(0.001)
        await seat.until("line 7999")
        seat.type("\r")
        assert await seat.said() == Said(text)
        await seat.until("… 7970 more lines")

    sit(scene)


def test_thought_is_folded_until_a_key_shows_it(sit):
    """And from then on thoughts are shown whole."""

    async def scene(seat):
        show = seat.surface.observer("s")
        show(MessageDelta("thinking", "deep "))
        show(MessageDelta("thinking", "words"))
        await seat.until("thinking… 2 words")
        show(MessageDelta("text", "so\n"))
        await seat.until("thought · 2 words")
        assert "deep words" not in seat.text()
        seat.type("\x14")
        await seat.until("│ deep words")
        show(MessageDelta("thinking", "another"))
        show(message("so"))
        await seat.until("│ another")

    sit(scene)


def test_commands_and_paths_are_completed(sit, tmp_path):
    """Links lead nowhere, and names that could not be typed are left out."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "shot.png").write_bytes(b"x")
    (tmp_path / "folder" / "sh\x1b[2Jx").write_bytes(b"x")
    (tmp_path / "fol two").mkdir()

    async def scene(seat):
        seat.type("/t")
        text = await seat.until("how hard")
        assert "/tree" in text
        assert "/help" not in text.replace("· /help", "")
        seat.type("\t\r\r")
        assert (await seat.said()).text.startswith("/t")
        seat.type("see @fo")
        await seat.until("folder/")
        seat.type("\tsh")
        await seat.until("shot.png")
        seat.type("\t\r\r")
        assert await seat.said() == Said("see @folder/shot.png")

    sit(scene)


def test_history_is_kept_without_secrets_and_for_the_user_alone(sit, tmp_path):
    """The next chat offers it."""

    async def first(seat):
        seat.type("my password is hunter2-secret\r")
        await seat.said()

    sit(first)
    path = tmp_path / "state" / "chat" / "said.jsonl"

    async def second(seat):
        await seat.look(0.3)
        seat.type("\x1b[A")
        await seat.until("» my password is [REDACTED]")

    sit(second)

    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        "my password is [REDACTED]"
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_window_that_changes_its_size_is_drawn_anew(sit):
    async def scene(seat):
        seat.type("some words")
        await seat.until("some words")
        seat.resize(40, 12)
        await seat.look(0.3)
        seat.surface.note("after")
        await seat.until("after")
        assert seat.text().count("» some words") == 1

    sit(scene)


def test_terminal_that_goes_away_says_nothing_more(sit):
    """As leaving does; what is shown then goes nowhere and fails nothing."""

    async def scene(seat):
        seat.hang_up()
        seat.surface.note("nobody sees this")
        assert await seat.said() is None

    sit(scene)


@pytest.mark.parametrize("term", ["dumb", "", None])
def test_plain_terminals_get_no_input_line(term):
    assert not terminal_fits({"TERM": term} if term is not None else {})


def test_last_row_has_the_changed_files_counted_whenever_it_belongs_to_a_conversation(sit):
    """And shows the count as soon as it is there."""

    async def scene(seat):
        [counted] = seat.talk.recounts
        seat.talk.shown["files"] = "+1 ~0 -0"
        counted()
        await seat.until("m/one · +1 ~0 -0")

    sit(scene)
