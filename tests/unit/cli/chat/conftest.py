"""A seat at a pseudo-terminal with a chat's surface on it, and whole chats said line by line."""

import io

import anyio
import pytest
import yaml

from orchestrator.cli.chat.commands import run_command
from orchestrator.cli.chat.plain import PlainSurface
from orchestrator.cli.chat.talk import Chat
from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.harness.options import RunOptions
from tests.support.chat_seat import ChatSeat
from tests.support.workspaces import drop_workspaces, give


@pytest.fixture
def sit(tmp_path):
    """Run an async scene with a seat."""
    seats = []

    def play(scene, **options):
        seat = ChatSeat(tmp_path, **options)
        seats.append(seat)

        async def whole():
            with anyio.fail_after(60):
                async with seat.sitting():
                    await scene(seat)

        anyio.run(whole)
        return seat

    yield play
    for seat in seats:
        seat.close()


@pytest.fixture
def chat(tmp_path, monkeypatch):
    """Return what runs a chat of some lines with a scripted model; gives end, answers, notes."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    project = tmp_path / "project"
    project.mkdir()
    give(project)
    # Where an export without a name goes.
    monkeypatch.chdir(tmp_path)

    def run(
        *turns, said, command=run_command, prompt=None, surface=PlainSurface, summaries=(), **more
    ):
        script = tmp_path / "script.yaml"
        script.write_text(
            yaml.safe_dump({"version": 1, "turns": list(turns), "summaries": list(summaries)})
        )
        options = RunOptions(prompt, project, f"scripted:{script}", **more)
        lines = io.StringIO("".join(f"{line}\n" for line in said))
        screen = surface(lines, io.StringIO(), io.StringIO())
        talk = Chat(options, Settings(), paths, screen, command, waits=True)
        end = anyio.run(talk.run)
        return end, screen.out.getvalue().splitlines(), screen.err.getvalue()

    run.project = project
    run.paths = paths
    yield run
    drop_workspaces(paths)
