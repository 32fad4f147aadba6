"""A session without a model, on the real engine."""

import json

import anyio
import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.person import Person
from orchestrator.harness.shell import open_shell
from orchestrator.schema.stream import TerminalSize

ME = Person.here("shell")


def test_directory_that_is_no_project_is_refused(options, paths, front):
    """As for a run, before anything is made."""

    async def visit():
        async with open_shell(options(directory=paths.state.parent), paths, front=front):
            pass

    with pytest.raises(UsageError):
        anyio.run(visit)
    assert not paths.state.exists()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_terminal_works_on_the_project_and_changes_wait(options, paths, front, project):
    """The chain says that no model took part."""

    async def visit():
        async with open_shell(options(model="none"), paths, front=front) as shell:
            stream = await shell.access.open_terminal(
                TerminalSize(), ME, command="cat notes.txt; echo x > new.txt"
            )
            shown = b""
            while piece := await stream.receive():
                shown += piece
            await stream.close()
            return shell.id, shown, await shell.settle(exit_code=0)

    session, shown, waiting = anyio.run(visit)
    chain = [json.loads(line) for line in paths.audit_log(session).read_text().splitlines()]
    [end] = [line["body"] for line in chain if line["type"] == "session_end"]

    assert shown == b"one\r\ntwo\r\n"
    assert waiting == 1
    assert chain[0]["body"]["model"] == "none"
    assert end == {"status": "done", "exit_code": 0, "changed": 1}
    assert not (project / "new.txt").exists()
