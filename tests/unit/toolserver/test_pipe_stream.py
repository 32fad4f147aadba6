"""A program with pipes in the box, over the glove."""

import anyio
import pytest

from orchestrator.sandbox.pieces import Pieces
from orchestrator.schema.stream import ProgramTarget

pytestmark = pytest.mark.docker


async def program(scene, command, **more):
    return await scene.box.open_stream(ProgramTarget(command, "/workspace"), **more)


async def said(stream):
    """Return all output and all errors, apart."""
    pieces, both = Pieces(), {"stdout": b"", "stderr": b""}
    with anyio.fail_after(20):
        while data := await stream.receive():
            for source, piece in pieces.feed(data):
                both[source] += piece
    return both


def test_output_and_errors_stay_apart(stage):
    """As bytes, with the exit code."""

    async def scene(scene):
        stream = await program(scene, r"printf 'a\0\377'; printf b >&2; exit 7")
        return await said(stream), await stream.close()

    both, end = stage.play(scene)

    assert both == {"stdout": b"a\0\xff", "stderr": b"b"}
    assert (end.exit_code, end.signal, end.reason) == (7, None, None)


def test_more_than_fits_a_window_goes_both_ways(stage):
    """Several windows, while both ends read and write; the end of input is heard."""
    sent = bytes(range(256)) * 8000

    async def scene(scene):
        stream = await program(scene, "tee /dev/stderr | cat; echo over >&2")
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: stream.send(sent, last=True))
            both = await said(stream)
        return both, await stream.close()

    both, end = stage.play(scene)

    assert both["stdout"] == sent
    assert both["stderr"].endswith(b"over\n")
    assert len(both["stderr"]) == len(sent) + 5
    assert end.exit_code == 0


def test_program_is_no_terminals_and_has_the_commands_user(stage):
    """Input, output and errors are pipes; without input there is none."""

    async def scene(scene):
        command = "for n in 0 1 2; do test -p /dev/fd/$n && echo pipe; done; tty; id -u"
        stream = await program(scene, command)
        await stream.send(b"", last=True)
        return (await said(stream))["stdout"].decode()

    assert stage.play(scene) == "pipe\npipe\npipe\nnot a tty\n1000\n"


def test_closing_ends_all_that_it_started(stage):
    """It is asked first; what it left in the background ends with it."""

    async def scene(scene):
        stream = await program(
            scene,
            "trap 'echo asked > asked; exit 0' TERM; sleep 4242 & while :; do sleep 0.1; done",
        )
        await anyio.sleep(0.5)
        end = await stream.close()
        return end, await scene.output("cat asked; pgrep -c -f '[s]leep 4242'; true")

    end, after = stage.play(scene)

    assert end.reason == "cancelled"
    assert after == "asked\n0\n"


def test_what_it_starts_is_told_before_its_end(stage):
    """Terminals and programs alike, where somebody wants to hear it; a person's shell is not seen."""
    heard = []

    def hear(report):
        heard.extend(seen.argv for seen in report.execs)
        return False

    async def scene(scene):
        stream = await program(scene, "env true; sh -c 'exec uname -s'", on_execs=hear)
        both = await said(stream)
        await stream.close()
        return both

    both = stage.play(scene)

    assert both["stdout"] == b"Linux\n"
    assert ("true",) in heard
    assert ("uname", "-s") in heard


def test_who_hears_it_may_have_it_ended(stage):
    """At once, with the reason."""

    async def scene(scene):
        stream = await program(
            scene, "env true; sleep 30", on_execs=lambda report: any(report.execs)
        )
        await said(stream)
        return await stream.close()

    end = stage.play(scene)

    assert (end.exit_code, end.reason) == (None, "policy")
