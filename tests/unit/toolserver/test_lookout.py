import time

import anyio
import pytest

from orchestrator.schema.request import ProcessOutput
from tests.support.processes import Started, listed, look

pytestmark = pytest.mark.docker


@pytest.mark.parametrize("pattern", ["ready now", "^ready.*w$"], ids=["plain", "regex"])
def test_pattern_is_found_as_a_person_reads_it(stage, pattern):
    """Colours do not matter, nor in which pieces a line came."""

    async def scene(scene):
        one = Started(scene)
        return await one.start(
            r"echo wait; sleep 0.3; printf 're\e[1mady\e[0m n'; sleep 0.3; echo ow; sleep 900",
            look(pattern),
        )

    found = stage.play(scene)

    assert (found["why"], found["running"]) == ("match", True)


def test_end_without_a_match_ends_the_waiting(stage):
    """There is nothing more to wait for; the exit code is there."""

    async def scene(scene):
        return await Started(scene).start("echo no; exit 4", look("^yes$"))

    found = stage.play(scene)

    assert (found["why"], found["exit_code"], found["text"]) == ("ended", 4, "no\n")


def test_match_in_the_last_words_counts(stage):
    """A program that says it and ends at once said it."""

    async def scene(scene):
        return await Started(scene).start("printf 'x yes'", look("y.s$"))

    assert stage.play(scene)["why"] == "match"


def test_only_what_is_new_is_searched_unless_asked(stage):
    """What was shown before does not match again; from the beginning it does."""

    async def scene(scene):
        one = Started(scene)
        await one.start("echo ready; sleep 900", look("ready"))
        again = await one.output(look("ready", wait_s=0.4))
        from_start = await one.output(look("ready", since=0))
        return again, from_start

    again, from_start = stage.play(scene)

    assert (again["why"], again["text"]) == ("time", "")
    assert (from_start["why"], from_start["text"]) == ("match", "ready\n")


def test_pattern_that_would_take_for_ever_is_given_up(stage):
    """The box answers other calls meanwhile, and the process goes on."""

    async def scene(scene):
        one = Started(scene)
        async with anyio.create_task_group() as group:
            found = {}

            async def wait():
                command = f"echo {'a' * 60}; sleep 900"
                found["slow"] = await one.start(command, look("(a|a)+$b", wait_s=60.0))

            group.start_soon(wait)
            await anyio.sleep(0.4)
            began = time.monotonic()
            await scene.output("true")
            found["took"] = time.monotonic() - began
        return found, await listed(scene)

    found, [process] = stage.play(scene)

    assert found["slow"]["why"] == "slow"
    assert found["took"] < found["slow"]["duration_ms"] / 1000
    assert process["running"]


def test_silence_after_output_ends_a_look_for_an_answer(stage):
    """A prompt needs no pattern."""

    async def scene(scene):
        return await Started(scene).start(
            "echo 1; sleep 0.1; echo 2; sleep 900", look(wait_s=30.0, quiet_s=0.5)
        )

    found = stage.play(scene)

    assert (found["why"], found["text"]) == ("quiet", "1\n2\n")


def test_output_is_streamed_while_it_is_awaited(stage):
    """In order and within the credit; the match does not wait until the host has read it all."""

    async def scene(scene):
        one, pieces = Started(scene), []
        await one.start(
            "echo before; read x; seq 200000; sleep 0.5; echo done; sleep 900",
            look("before"),
        )
        await one.type("go\n", look(wait_s=0.0))
        await scene.box.execute(ProcessOutput("p1", look("^done$")), on_output=pieces.append)
        return "".join(pieces)

    text = stage.play(scene)

    assert text.startswith("1\n2\n3\n")
    assert "".join(f"{number}\n" for number in range(1, 200_001)).startswith(text[:300_000])


def test_cancelled_waiting_leaves_the_process(stage):
    """Only the call ends."""

    async def scene(scene):
        one = Started(scene)
        with anyio.move_on_after(0.5) as scope:
            await one.start("echo up; sleep 900", look("never"))
        return scope.cancelled_caught, await one.output()

    cancelled, found = stage.play(scene)

    assert cancelled
    assert (found["running"], found["text"]) == (True, "")


def test_answers_hold_whole_characters(stage):
    """A character that is only half there comes with the next answer."""

    async def scene(scene):
        one = Started(scene)
        first = await one.start(r"printf 'h\xc3'; read x; printf '\xbc\n'; sleep 900")
        second = await one.type("\n", look("$"))
        third = await one.output(look("\n", wait_s=2.0))
        return first["text"], second["text"] + third["text"]

    assert stage.play(scene) == ("h", "ü\n")
