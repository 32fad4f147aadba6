"""A person's terminals: recorded, and in the audit as theirs."""

import os

import anyio
import pytest

from orchestrator.errors import AuditUnavailable
from orchestrator.harness.person import Person
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.stream import TerminalSize
from tests.support.joining import SECRET, join

ME = Person.here("shell")


async def read_all(stream):
    whole = b""
    while piece := await stream.receive():
        whole += piece
    return whole


def test_terminal_is_recorded_from_start_to_end(tmp_path):
    """Who, what, how large, where the recording is, how it ended."""

    async def scene(joined):
        stream = await joined.access.open_terminal(TerminalSize(40, 10), ME, command="ls")
        assert await read_all(stream) == b"a b\n"
        stream.resize(TerminalSize(41, 10))
        end = await stream.close()
        assert (await stream.close()) == end
        [start], [over] = joined.records("terminal_start"), joined.records("terminal_end")

        assert start["who"] == ME.body()
        assert start["who"]["uid"] == os.geteuid()
        assert (start["command"], start["columns"], start["rows"]) == ("ls", 40, 10)
        assert (over["exit_code"], over["bytes_shown"], over["recording_complete"]) == (3, 4, True)
        assert start["terminal"] == over["terminal"]
        recorded = (tmp_path / "recordings").glob("*.cast")
        [path] = recorded
        assert start["recording"] == str(path)
        assert '"a b\\n"' in path.read_text()
        assert '"r", "41x10"' in path.read_text()

    join(tmp_path, scene)


def test_secret_is_in_neither_record(tmp_path):
    """The audit and the recording are redacted; the person sees what is there."""

    async def scene(joined):
        stream = await joined.access.open_terminal(TerminalSize(), ME)
        await stream.send(f"{SECRET}\n\x04".encode())
        assert SECRET.encode() in await read_all(stream)
        await stream.close()
        with pytest.raises(Exception, match="no reply"):
            await joined.access.open_terminal(TerminalSize(), ME, command=f"curl -u x:{SECRET}")
        kept = joined.audit_file.read_text()
        for path in (tmp_path / "recordings").iterdir():
            kept += path.read_text()

        assert SECRET not in kept
        assert "[redacted:" in kept

    join(tmp_path, scene)


def test_terminal_that_could_not_be_opened_is_recorded_as_that(tmp_path):
    """A start without an end would look like one that still runs."""

    async def scene(joined):
        joined.box.stop()
        with pytest.raises(Exception, match="stopped"):
            await joined.access.open_terminal(TerminalSize(), ME)

        assert [body["failed"] for body in joined.records("terminal_end")] == ["BoxError"]

    join(tmp_path, scene)


def test_without_a_record_there_is_no_terminal(tmp_path):
    """Neither where the audit cannot be written, nor where the recording cannot."""

    async def scene(joined):
        (tmp_path / "recordings").write_text("a file where the folder should be")
        with pytest.raises(AuditUnavailable, match="recorded"):
            await joined.access.open_terminal(TerminalSize(), ME)
        joined.access.audit.close()
        with pytest.raises(AuditUnavailable):
            await joined.access.open_terminal(TerminalSize(), ME)

        assert joined.box.streams == []

    join(tmp_path, scene)


def test_end_is_recorded_when_the_caller_is_cancelled(tmp_path):
    """Whatever ends the person's process."""

    async def scene(joined):
        with anyio.move_on_after(0.05):
            stream = await joined.access.open_terminal(TerminalSize(), ME)
            try:
                await read_all(stream)
            finally:
                await stream.close()

        assert [body["reason"] for body in joined.records("terminal_end")] == ["cancelled"]

    join(tmp_path, scene)


def test_port_without_a_server_is_refused(tmp_path):
    """As the box says it."""

    async def scene(joined):
        with pytest.raises(StreamRefusedError, match="refused"):
            await joined.access.open_port(9)

    join(tmp_path, scene)
