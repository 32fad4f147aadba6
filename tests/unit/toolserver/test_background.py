from dataclasses import replace

import pytest

from orchestrator.schema.request import ProcessInput
from tests.support.boxes import LIMITS, MIB
from tests.support.processes import Started, look

pytestmark = pytest.mark.docker


def test_input_waits_for_a_program_that_is_busy(stage):
    """Nothing is lost, and how much waits is told."""

    async def scene(scene):
        one = Started(scene)
        await one.start("read x; wc -c; sleep 900")
        waiting = await one.type("a" * 200_000, look(wait_s=0.2))
        refused = await scene.box.execute(ProcessInput("p1", "b" * 200_000))
        return waiting, refused, await one.type("\nccc", look("^3$"), eof=True)

    waiting, refused, counted = stage.play(scene)

    assert waiting["unread"] == 0 or waiting["unread"] < 200_000
    assert refused.error is None or "has not read" in refused.error
    assert counted["why"] == "match"


def test_input_to_a_closed_end_is_refused(stage):
    """After its end was sent, and after the program has ended."""

    async def scene(scene):
        one = Started(scene)
        await one.start("cat; sleep 900")
        await one.type("", look(wait_s=0.0), eof=True)
        closed = await scene.box.execute(ProcessInput("p1", "x\n"))
        await one.signal("KILL")
        return closed, await scene.box.execute(ProcessInput("p1", "x\n"))

    closed, ended = stage.play(scene)

    assert (closed.code, closed.error) == ("unavailable", "its input was closed")
    assert (ended.code, ended.error) == ("unavailable", "it has ended")


def test_program_that_never_reads_cannot_fill_the_server(stage):
    """Input beyond a bound is refused."""

    async def scene(scene):
        one = Started(scene)
        await one.start("sleep 900", look(wait_s=0.0))
        return [
            await scene.box.execute(ProcessInput("p1", "x" * 100_000, look=look(wait_s=0.0)))
            for _ in range(6)
        ]

    outcomes = stage.play(scene)

    assert outcomes[0].error is None
    assert outcomes[-1].code == "unavailable"
    assert "has not read" in outcomes[-1].error


def test_enter_and_interrupt_work_at_a_terminal(stage):
    """A shell there has job control and takes Control-C as any terminal does."""

    async def scene(scene):
        shell = Started(scene, "sh")
        await shell.start("PS1='$ ' bash --norc -i", look(r"\$ $"), terminal=True)
        await shell.type("sleep 960\n", look(wait_s=0.4))
        stopped = await shell.type("\x03", look(r"\$ $"))
        typed = await shell.type("echo $((40 + 2)); tty; stty size\n", look("^40 120$"))
        left = await scene.output("pgrep -fa '^sleep 960' || echo none")
        return stopped, typed, left

    stopped, typed, left = stage.play(scene)

    assert stopped["why"] == "match"
    assert "42\r\n/dev/pts/" in typed["text"]
    assert left == "none\n"


def test_last_words_come_with_the_end(stage):
    """Of a process at a pipe and of one at a terminal."""

    async def scene(scene):
        plain = await Started(scene, "a").start("seq 3000 | tail -1; exit 5", look())
        terminal = await Started(scene, "b").start("seq 3000 | tail -1", look(), terminal=True)
        return plain, terminal

    plain, terminal = stage.play(scene)

    assert (plain["text"], plain["exit_code"]) == ("3000\n", 5)
    assert (terminal["text"], terminal["exit_code"]) == ("3000\r\n", 0)


def test_forgotten_process_may_go_on_printing(stage):
    """What it left behind does not die of a pipe without a reader."""

    async def scene(scene):
        one = Started(scene)
        await one.start("(while sleep 0.1; do echo tick; echo tick >> ticks; done) & true", look())
        await one.start("true", look())
        before = int(await scene.output("sleep 0.5; wc -l < ticks"))
        return before, int(await scene.output("sleep 0.5; wc -l < ticks"))

    before, after = stage.play(scene)

    assert after > before


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        ("while :; do head -c 8000000 /dev/zero >> /tmp/big; done", "disk"),
        ("bomb() { bomb | bomb & }; bomb; sleep 900", "pids"),
    ],
    ids=["disk", "processes"],
)
def test_runaway_in_the_background_is_ended(stage, command, limit):
    """With no call to blame, as a command is; calls work after it."""
    small = replace(LIMITS, disk=32 * MIB)

    async def scene(scene):
        ended = await Started(scene).start(command, look(wait_s=20.0))
        return ended, await scene.output("rm -f /tmp/big; echo next")

    ended, following = stage.play(scene, limits=small)

    assert (ended["running"], ended["limit"]) == (False, limit)
    assert following == "next\n"
