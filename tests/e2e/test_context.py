"""A conversation that grows too long, in the real command with a real box."""

import json

import pytest

from tests.support.world import bash

pytestmark = pytest.mark.docker

SMALL = {"name": "small", "context_window": 6_000, "max_output": 500}
FULL = {"usage": {"input": 5_000, "output": 10}}


def entries(world, kind):
    lines = world.run("sessions", "show", world.session(), "--json").out.splitlines()
    return [entry for line in lines if (entry := json.loads(line))["type"] == kind]


def test_run_is_compacted_between_turns_and_goes_on(world):
    """The summary is stored with its cost counted, and the run ends as it would have."""
    turns = [{**bash(f"seq {n} {n + 400}"), "text": f"turn {n}", **FULL} for n in range(3)]
    model = world.script(
        *turns, {"text": "done"}, model=SMALL, summaries=["## Goal\ncount", "again"] * 3
    )
    ran = world.run("run", "count", "-m", model, "--json")

    assert ran.code == 0, ran.err
    (first, *_) = ran.of("compaction_end")
    assert (first["reason"], first["problem"]) == ("threshold", "")
    assert first["tokens_after"] < first["tokens_before"]
    assert ran.of("session_end")[0]["answer"] == "done"
    body = entries(world, "compaction")[0]["body"]
    assert body["summary"].startswith("## Goal\ncount")
    assert body["model"] == "scripted/small"


def test_needed_summary_that_fails_ends_the_run_and_says_why(world):
    """Nothing is sent that is too long, and nothing half is kept."""
    model = world.script(
        {**bash("seq 1 100"), **FULL}, {"text": "never"}, model=SMALL, summaries=["", ""]
    )
    ran = world.run("run", "count", "-m", model, "--json")

    assert ran.code == 1
    assert ran.of("compaction_end")[0]["problem"]
    assert "expected a summary, got nothing" in ran.of("error")[0]["message"]
    assert entries(world, "compaction") == []
    assert world.run("sessions", "stats", world.session()).code == 0


def test_resumed_session_goes_on_behind_its_summary(world):
    """The script finds its turn although most answers were summarised."""
    turns = [{**bash(f"seq {n} {n + 400}"), "text": f"turn {n}", **FULL} for n in range(3)]
    script = [*turns, {"text": "done"}, {"text": "and more"}]
    model = world.script(*script, model=SMALL, summaries=["one", "two", "three", "four"])
    first = world.run("run", "count", "-m", model)
    again = world.run("run", "more", "-m", model, "--resume", world.session())

    assert (first.code, again.code) == (0, 0)
    assert again.out.strip() == "and more"


def test_results_are_asked_for_as_far_as_there_is_room(world):
    """Requirement 4.9: a long file and a long output, side by side, fit a small window at once.

    The file is read on from where its window ended; nothing had to be summarised or trimmed.
    """
    lines = "\n".join(f"line {n} of a long file" for n in range(4_000))
    (world.project / "long.txt").write_text(lines)
    read = {"name": "read", "arguments": {"path": "long.txt"}}
    command = {"name": "bash", "arguments": {"command": "cat long.txt"}}
    more = {"name": "read", "arguments": {"path": "long.txt", "offset": 90, "limit": 5}}
    model = world.script(
        {"tool_calls": [read, command]},
        {"tool_calls": [more], "expect": {"last_tool_output_contains": "room for about"}},
        {"text": "done", "expect": {"last_tool_output_contains": "line 93 of a long"}},
        model=SMALL,
    )
    ran = world.run("run", "look", "-m", model, "--json")

    assert ran.code == 0, ran.err
    first, second, _ = ran.of("tool_end")
    told = {end["name"]: end["output"] for end in (first, second)}
    assert "go on with offset=" in told["read"]
    assert "little room is left in the conversation" in told["read"]
    assert "full output" in told["bash"]
    assert sum(len(text) for text in told.values()) < 4 * 4_500
    assert ran.of("compaction_start") == ran.of("context_trimmed") == []
