import anyio
import pytest

from orchestrator.harness.first_commands import run_first
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.event import ToolStart
from tests.support.corridor import open_corridor, verdict


def run(tmp_path, *commands, offered=True, **corridor):
    """Run first commands in a corridor; returns it and the notes."""
    box = ScriptedBox({"make": Reply("made\n"), "false": Reply("", exit_code=1), "ls": Reply("")})
    found = open_corridor(tmp_path, box, **corridor)
    notes = []

    async def whole():
        await run_first(
            found.dispatcher, commands, offered=offered, timeout_s=60.0, note=notes.append
        )

    anyio.run(whole)
    return found, notes


def ran(corridor):
    return [event.arguments["command"] for event in corridor.of(ToolStart)]


def test_commands_pass_the_gate_and_the_audit(tmp_path):
    """One after the other, each with its intent and its outcome on record."""
    corridor, notes = run(tmp_path, "make", "ls")

    assert ran(corridor) == ["make", "ls"]
    assert len(corridor.bodies("intent")) == len(corridor.bodies("outcome")) == 2
    assert notes == []


@pytest.mark.parametrize("policy", ["deny", "ask"])
def test_refused_command_does_not_run(tmp_path, policy):
    """The project's wish is no more than a model's."""
    corridor, notes = run(tmp_path, "make", evaluate=verdict(policy))

    assert corridor.bodies("intent") == []
    assert "postCreateCommand: make: it failed" in notes[0]


def test_ask_that_nobody_answers_ends_them_and_not_the_run(tmp_path):
    """Also where a run stops at such an ask: nothing of the model waits for it yet."""
    corridor, notes = run(tmp_path, "make", "ls", evaluate=verdict("ask"), stop=True)

    assert ran(corridor) == ["make"]
    assert len(notes) == 1


def test_failed_command_ends_them(tmp_path):
    """What comes after counts on it."""
    corridor, notes = run(tmp_path, "false", "make")

    assert ran(corridor) == ["false"]
    assert "false" in notes[0]


def test_session_without_bash_runs_none(tmp_path):
    """The tools on offer are the run's own choice."""
    corridor, notes = run(tmp_path, "make", offered=False)

    assert ran(corridor) == []
    assert "has no bash" in notes[0]
    assert run(tmp_path / "none", offered=False)[1] == []
