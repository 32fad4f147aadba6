"""A person's terminal in the box, over the glove."""

import time

import anyio
import pytest

from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.stream import TerminalSize, TerminalTarget

pytestmark = pytest.mark.docker


async def terminal(scene, command=None, cwd="/workspace"):
    return await scene.box.open_stream(TerminalTarget(TerminalSize(77, 21), cwd, command))


async def until(stream, words):
    """Read until the terminal showed some words."""
    shown = b""
    with anyio.fail_after(20):
        while words not in shown:
            piece = await stream.receive()
            assert piece, shown
            shown += piece
    return shown


async def rest(stream):
    shown = b""
    with anyio.fail_after(20):
        while piece := await stream.receive():
            shown += piece
    return shown.decode()


def test_shell_is_the_command_users_on_a_terminal(stage):
    """Its size, its type, job control; and a new size reaches it."""

    async def scene(scene):
        stream = await terminal(scene)
        await stream.send(b"PS1=; stty size; echo $TERM $(id -u) ${-//[^im]/}; tty; echo rea''dy\r")
        shown = await until(stream, b"ready")
        stream.resize(TerminalSize(50, 10))
        await stream.send(b"stty size; exit 7\r")
        return shown.decode(), await rest(stream), await stream.close()

    first, second, end = stage.play(scene)

    assert "21 77" in first
    assert "xterm-256color 1000 im" in first
    assert "/dev/pts/" in first
    assert "10 50" in second
    assert (end.exit_code, end.reason) == (7, None)


def test_keys_that_signal_do(stage):
    """Ctrl-C ends the program in the foreground, not the shell."""

    async def scene(scene):
        stream = await terminal(scene)
        await stream.send(b"PS1=; sleep 60; echo code=$?\r")
        await until(stream, b"sleep 60")
        await anyio.sleep(0.3)
        await stream.send(b"\x03")
        await stream.send(b"echo status=$?\r")
        await until(stream, b"status=130")
        await stream.send(b"\x04")
        await rest(stream)
        return await stream.close()

    assert stage.play(scene).reason is None


def test_closing_ends_everything_on_it(stage):
    """Those too that ignore the hang-up or left the session."""

    async def scene(scene):
        stream = await terminal(
            scene,
            "trap '' HUP TERM; setsid sleep 4242 & nohup sleep 4242 & echo started; sleep 4242",
        )
        await until(stream, b"started")
        began = time.monotonic()
        end = await stream.close()
        left = await scene.output("pgrep -fc 'sleep 424[2]' || true")
        return end, left, time.monotonic() - began

    end, left, _ = stage.play(scene)

    assert (end.exit_code, end.reason, left) == (None, "cancelled", "0\n")


def test_closing_hangs_up_first(stage):
    """A program that saves its work on SIGHUP has the time to; a shell would not heed a SIGTERM."""

    async def scene(scene):
        stream = await terminal(
            scene,
            "trap 'echo told >hung-up; exit' HUP; trap '' TERM; echo started; "
            "while :; do sleep 0.1; done",
        )
        await until(stream, b"started")
        end = await stream.close()
        return end, await scene.output("cat hung-up")

    end, told = stage.play(scene)

    assert (end.reason, told) == ("cancelled", "told\n")


def test_fast_output_arrives_whole(stage):
    """The last words of a program that has ended wait until the host has read them."""

    async def scene(scene):
        stream = await terminal(scene, "seq 200000; echo done; exit 3")
        await anyio.sleep(1.5)
        shown = await rest(stream)
        return shown, await stream.close()

    shown, end = stage.play(scene)

    assert shown.replace("\r", "").splitlines() == [*map(str, range(1, 200_001)), "done"]
    assert end.exit_code == 3


def test_directory_that_is_missing_is_told(stage):
    """As the end, since the terminal was there."""

    async def scene(scene):
        stream = await terminal(scene, cwd="/no/such/place")
        await rest(stream)
        return await stream.close()

    assert "/no/such/place" in stage.play(scene).reason


@pytest.mark.parametrize("command", ["x" * 140_000, "a\0b"])
def test_command_that_cannot_be_is_refused(stage, command):
    """With the reason, and the session goes on."""

    async def scene(scene):
        with pytest.raises(StreamRefusedError, match="command"):
            await terminal(scene, command)
        return await scene.output("echo next")

    assert stage.play(scene) == "next\n"
