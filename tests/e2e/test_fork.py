"""A copy of a session, run by the real command in a box of its own."""

import json

import pytest

from tests.support.workspaces import give
from tests.support.world import bash

pytestmark = pytest.mark.docker


def shown(world, session):
    lines = world.run("sessions", "show", session, "--json").out.splitlines()
    return [json.loads(line) for line in lines]


def roles(world, session):
    return [e["body"]["role"] for e in shown(world, session) if e["type"] == "message"]


def waiting(world, session):
    return [c["path"] for c in json.loads(world.run("diff", session, "--json").out)["changes"]]


def test_fork_goes_on_in_a_fresh_workspace_and_is_told_so(world):
    """What the other one changed is not there, and the other one stays as it was."""
    give(world.project)
    model = world.script(
        bash("echo first > made; cat made"),
        {"text": "made it"},
        bash("ls; echo second > other"),
        {"text": "done"},
    )
    first = world.run("run", "make it", "-m", model, "--json")
    source = world.session()
    before = shown(world, source)

    ended = world.run("run", "--resume", source, "--fork", "go on", "-m", model, "--json")
    copy = world.session()

    assert first.code == ended.code == 0, ended.err
    assert copy != source
    (result,) = ended.of("tool_end")
    assert result["output"].split() == ["notes.txt"], "a fresh workspace of the directory"
    assert shown(world, source) == before
    header, *entries = shown(world, copy)
    assert (header["forked_from"], header["forked_at"]) == (source, before[-1]["id"])
    said = [e["body"] for e in entries if e["type"] == "message" and e["body"]["role"] == "user"]
    assert "copied from another session" in said[-1]["content"][0]["text"]
    assert "interrupted" not in json.dumps(said[-1])
    assert (waiting(world, source), waiting(world, copy)) == (["made"], ["other"])
    assert world.run("audit", "verify", copy, "--require-closed").code == 0
    assert not world.records("session_start")[0]["resumed"]
    counted = json.loads(world.run("sessions", "stats", "--every", "--json").out)
    assert counted["turns"] == 4, "the origin's turns count once"


def test_fork_at_an_entry_and_its_removal(world):
    """Changes that wait are named, and a session with some is removed only when told."""
    give(world.project)
    model = world.script(bash("echo x > made"), {"text": "made it"}, {"text": "again"})
    world.run("run", "make it", "-m", model)
    source = world.session()
    answer = next(e["id"] for e in shown(world, source)[1:] if "echo x" in json.dumps(e))

    made = world.run("sessions", "fork", source, "--after", answer)
    fork = made.out.strip()
    kept = world.run("sessions", "rm", source)
    resumed = world.run("run", "--resume", fork, "say it", "-m", model, "-p")
    removed = world.run("sessions", "rm", source, "--changes")

    assert made.code == 0, made.err
    assert f"glovebox apply {source}" in made.err
    assert roles(world, fork) == ["user", "assistant", "tool", "user", "assistant"]
    assert (kept.code, resumed.out) == (1, "made it\n"), resumed.err
    assert removed.code == 0, removed.err
    assert not list(world.state.glob(f"work/{source}*"))
    assert world.run("audit", "verify", source).code == 0
    assert world.run("sessions", "show", source).code == 1


def test_fork_whose_box_does_not_come_up_leaves_nothing(world):
    """As any run that failed."""
    give(world.project)
    model = world.script({"text": "done"})
    world.run("run", "say it", "-m", model)
    source = world.session()

    failed = world.run("run", "--continue", "--fork", "x", "-m", model, "--image", "no/such:image")

    assert failed.code != 0
    listed = json.loads(world.run("sessions", "list", "--json").out)["sessions"]
    assert [row["id"] for row in listed] == [source]
    refused = world.run("run", "--fork", "x", "-m", model)
    assert refused.code == 2
    assert "--resume ID" in refused.err
