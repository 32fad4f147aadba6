"""A harmless command that starts something else: told, recorded, and ended where policy says so."""

import json

import pytest

from tests.support.world import bash

pytestmark = pytest.mark.docker

HIDDEN = "printf 'all:\\n\\tgit push origin main\\n\\tsleep 60\\n' > Makefile"
POLICY = "version: 1\nname: strict-ends\nextends: [default]\ncommands: {unexpected: end}\n"


def audited(world, kind):
    """Return the bodies of one kind in the only chain."""
    shown = world.run("audit", "show", "--json").out
    records = [json.loads(line) for line in shown.splitlines()]
    return [record["body"] for record in records if record["type"] == kind]


def test_program_that_make_starts_is_told_and_recorded(world):
    """The call goes on, as policy only wants to know."""
    model = world.script(bash(HIDDEN.replace("60", "0")), bash("make"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--json")
    (told,) = ended.of("unexpected_exec")
    (recorded,) = audited(world, "unexpected_exec")
    programs = audited(world, "outcome")[-1]["programs"]

    assert ended.code == 0, ended.err
    assert told["argv"] == ["git", "push", "origin", "main"]
    assert "publishes" in told["risks"]
    assert recorded["argv"] == told["argv"]
    assert not recorded["ended"]
    assert ("make", ["git", "push", "origin", "main"]) in [
        (item["by"], item["argv"]) for item in programs
    ]
    assert world.run("audit", "verify", "--require-closed").code == 0


def test_policy_ends_what_starts_it(world):
    """At once, and the model reads which program it was."""
    policy = world.root / "ends.yaml"
    policy.write_text(POLICY)
    model = world.script(bash(HIDDEN), bash("make; sleep 60"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--json", "--policy", str(policy))
    last = ended.of("tool_end")[-1]

    assert ended.code == 0, ended.err
    assert last["is_error"]
    assert last["duration_ms"] < 50_000
    assert "it started a program that policy does not allow unasked" in last["output"]
    assert "git push origin main" in last["output"]


def test_push_that_was_asked_for_is_no_surprise(world):
    """A yes covers what it was about."""
    model = world.script(bash("git push origin main"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--json", "--yolo")

    assert ended.code == 0, ended.err
    assert ended.of("unexpected_exec") == []
    assert audited(world, "outcome")[-1]["execs"]["count"] >= 1
