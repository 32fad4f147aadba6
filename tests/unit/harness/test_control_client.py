"""Joining a running session from another process, both ends real."""

import os
import socket

import anyio
import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import BoxError, SessionError
from orchestrator.harness.control_client import find_running, joined
from orchestrator.harness.control_protocol import Hello, Preview
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.request import ProcessStart
from orchestrator.schema.stream import TcpTarget, TerminalSize, TerminalTarget
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.joining import SECRET, SESSION, join
from tests.support.joining import session as up

ATTACH = Hello(version=1, via="attach")
PREVIEW = Hello(version=1, via="preview", preview=Preview(port=80, listen="127.0.0.1:8080"))


def terminal(command=None):
    return TerminalTarget(TerminalSize(50, 10), "/elsewhere", command)


async def read_all(stream):
    whole = b""
    while piece := await stream.receive():
        whole += piece
    return whole


def test_terminal_is_opened_and_recorded_as_the_callers(tmp_path):
    """The session records, since it is the one that writes the audit."""

    async def scene(session):
        async with joined(SESSION, session.path, ATTACH) as control:
            stream = await control.open_stream(terminal())
            stream.resize(TerminalSize(60, 12))
            await stream.send(b"hello\x04")
            assert await read_all(stream) == b"$ hello"
            assert (await stream.close()).exit_code == 0
        [start] = session.records("terminal_start")

        assert start["who"]["via"] == "attach"
        assert start["who"]["pid"] > 0
        assert (start["columns"], start["rows"]) == (50, 10)
        assert TerminalSize(60, 12) in session.box.streams[0].sizes

    join(tmp_path, scene)


def test_caller_that_vanishes_leaves_no_terminal(tmp_path):
    """What it opened is ended, and that is recorded."""

    async def scene(session):
        async with joined(SESSION, session.path, ATTACH) as control:
            await control.open_stream(terminal())
        while not session.records("terminal_end"):  # noqa: ASYNC110 - a file tells
            await anyio.sleep(0.01)

        assert session.records("terminal_end")[0]["reason"] == "cancelled"

    join(tmp_path, scene)


def test_preview_reaches_its_port_and_no_other(tmp_path):
    """It is recorded with what went through."""

    async def scene(session):
        async with joined(SESSION, session.path, PREVIEW) as control:
            stream = await control.open_stream(TcpTarget(80))
            await stream.send(b"GET /", last=True)
            assert await read_all(stream) == b"page"
            await stream.close()
            for target in (TcpTarget(81), terminal()):
                with pytest.raises(StreamRefusedError, match="something else"):
                    await control.open_stream(target)
        while not session.records("preview_end"):  # noqa: ASYNC110 - a file tells
            await anyio.sleep(0.01)
        [start], [end] = session.records("preview_start"), session.records("preview_end")

        assert (start["port"], start["listen"]) == (80, "127.0.0.1:8080")
        assert (end["connections"], end["bytes_in"], end["bytes_out"]) == (1, 5, 4)
        assert session.records("terminal_start") == []

    join(tmp_path, scene, ports={80: b"page", 81: b"secret"})


def test_processes_are_listed_and_nothing_else_is_given(tmp_path):
    """Redacted, since a command may hold a secret."""

    async def scene(session):
        start = ProcessStart(f"serve --key {SECRET}", "/workspace")
        await session.box.execute(start)
        async with joined(SESSION, session.path, Hello(version=1, via="processes")) as control:
            [row] = control.processes
            assert row.running
            assert row.command.startswith("serve --key [redacted:")
            for target in (TcpTarget(80), terminal()):
                with pytest.raises(StreamRefusedError, match="something else"):
                    await control.open_stream(target)

    join(tmp_path, scene, ports={80: b"page"})


def test_terminal_caller_reaches_no_port(tmp_path):
    """What a caller came for is what it gets."""

    async def scene(session):
        async with joined(SESSION, session.path, ATTACH) as control:
            with pytest.raises(StreamRefusedError, match="something else"):
                await control.open_stream(TcpTarget(80))

    join(tmp_path, scene, ports={80: b"page"})


def test_other_version_is_refused_with_words(tmp_path):
    """Old and new programs may meet."""

    async def scene(session):
        with pytest.raises(SessionError, match="version 1"):
            async with joined(SESSION, session.path, Hello(version=2, via="attach")):
                pass

    join(tmp_path, scene)


def test_session_that_cannot_record_serves_no_preview(tmp_path):
    """No record, no action."""

    async def scene(session):
        session.access.audit.close()
        with pytest.raises(SessionError):
            async with joined(SESSION, session.path, PREVIEW):
                pass

    join(tmp_path, scene)


def test_end_of_the_session_ends_the_callers_streams(tmp_path):
    """With words."""

    async def outside(found):
        async with joined(SESSION, found["path"], ATTACH) as control:
            stream = await control.open_stream(terminal())
            found["open"].set()
            try:
                await read_all(stream)
            except BoxError as error:
                found["error"] = str(error)
            assert control.over.is_set()

    async def whole():
        found = {"open": anyio.Event()}
        async with anyio.create_task_group() as group:

            async def scene(session):
                found["path"] = session.path
                group.start_soon(outside, found)
                await found["open"].wait()

            await up(tmp_path, scene)
        return found["error"]

    assert "it ended" in anyio.run(whole)


def test_running_session_is_found_by_id_or_directory(tmp_path):
    """One that has ended is not."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    for number, name in enumerate((SESSION, "fedcba987654")):
        header = SessionHeader(
            id=name, cwd=str(tmp_path), created="2026-01-01T00:00:00Z",
            policy_digest="sha256:0", image_digest="sha256:0",
        )  # fmt: skip
        path = paths.project_sessions(tmp_path) / f"2026010{number}T000000_{name}.jsonl"
        SessionStore.create(path, header).close()

    async def scene(session):
        found = find_running(None, tmp_path, paths, environ=session.environ)
        assert found == (SESSION, session.path)
        assert find_running(SESSION[:6], tmp_path, paths, environ=session.environ) == found
        with pytest.raises(SessionError, match="expected a running session") as caught:
            find_running("fedc", tmp_path, paths, environ=session.environ)
        assert "glovebox shell" in caught.value.hint

    join(tmp_path, scene)


def test_socket_that_is_gone_is_said_to_be(tmp_path):
    """It may end between looking and calling."""
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead"))
    dead.close()

    async def call():
        async with joined(SESSION, tmp_path / "dead", ATTACH):
            pass

    with pytest.raises(SessionError, match="not running"):
        anyio.run(call)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_socket_of_another_user_is_not_spoken_to(tmp_path):
    """Who made the place below /tmp first would read what a person types."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "trap"))
    pid = os.fork()
    if pid == 0:
        # The kernel tells of whoever called listen.
        os.setresuid(4242, 4242, 4242)
        listener.listen()
        os._exit(0)
    os.waitpid(pid, 0)

    async def call():
        async with joined(SESSION, tmp_path / "trap", ATTACH):
            pass

    with listener, pytest.raises(SessionError, match="is another user's"):
        anyio.run(call)
