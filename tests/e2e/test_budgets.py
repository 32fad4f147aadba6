"""Limits on money, over runs, sessions and a day, by the real command."""

import json

import pytest

from tests.support.world import bash

pytestmark = pytest.mark.docker

MODEL = {"name": "dear", "prices": {"input": 100.0, "output": 0.0}}
"""1,000 tokens of a prompt cost $0.10."""
TENTH = {"usage": {"input": 1000}}


def spoken(world, *turns, **top):
    return world.script(*({**turn, **TENTH} for turn in turns), model=MODEL, **top)


def policy(world, limits):
    path = world.root / "limits.yaml"
    path.write_text(f"version: 1\nname: limits\nextends: [default]\nlimits: {limits}\n")
    return ("--policy", str(path))


def of_day(world):
    return json.loads((world.state / "model-cost.json").read_text())


def test_policy_counts_the_sessions_whole_life_and_a_flag_the_command(world):
    """Two resumed runs of $0.10 come to the $0.20 that policy allows; no flag of before counts."""
    limits = policy(world, "{cost_usd: 0.2}")
    model = spoken(world, *({"text": f"answer {number}"} for number in range(4)))

    def run(*more):
        return world.run("run", "go on", "-m", model, *limits, "--json", *more)

    first = run("--max-budget-usd", "0.15")
    second = run("--continue", "--max-budget-usd", "0.15")
    third = run("--continue", "--max-budget-usd", "0.15")

    assert (first.code, second.code) == (0, 0), second.err
    [warning] = second.of("budget")
    assert (warning["kind"], warning["share"], warning["over"]) == ("cost", 0.5, "session")
    assert third.code == 4
    [limit] = third.of("limit")
    assert (limit["kind"], limit["value"], limit["over"]) == ("cost", 0.2, "session")
    assert third.of("message_end") == []
    forked = run("--continue", "--fork")
    assert forked.code == 0, "a copy is a session of its own"


def test_run_tells_a_person_of_its_budget(world):
    """On stderr, a line each; stdout has the answer alone."""
    model = spoken(world, bash("echo one"), bash("echo two"), conclusion=["half done"])

    ended = world.run("run", "do it", "-m", model, "--max-budget-usd", "0.2")

    assert ended.code == 4
    assert "  50% of money used: $0.1000 of $0.2000, set by a flag\n" in ended.err
    assert "limit reached: cost (0.2, set by a flag)\n" in ended.err
    assert ended.out == "half done\n"


def test_a_day_is_shared_by_all_directories_and_policies(world):
    """What a run without the limit spends counts too; a day that is over begins anew."""
    limits = policy(world, "{cost_usd_per_day: 0.3}")
    other = world.root / "other"
    other.mkdir()
    model = spoken(world, bash("echo one"), {"text": "two"})

    free = world.run("run", "x", "-m", model, "-C", str(other))
    assert free.code == 0, free.err
    assert of_day(world)["cost_usd"] == pytest.approx(0.2)
    longer = spoken(world, *[bash("true")] * 3, name="longer.yaml", conclusion=["over"])
    ended = world.run("run", "x", "-m", longer, *limits, "--json")
    assert ended.code == 4
    assert ended.of("limit")[0]["over"] == "day"
    shut = world.run("run", "x", "-m", model, *limits, "--json")
    assert (shut.code, shut.of("message_end")) == (4, [])

    spent = of_day(world)
    (world.state / "model-cost.json").write_text(json.dumps({**spent, "day": "2020-01-01"}))
    fresh = world.run("run", "x", "-m", model, *limits)
    assert fresh.code == 0, fresh.err
    assert of_day(world)["cost_usd"] == pytest.approx(0.2)


def test_day_that_cannot_be_counted_refuses_the_run(world):
    """Before there is a box, with the file's name; without the limit it is only told."""
    world.state.mkdir()
    (world.state / "model-cost.json").write_text("{")
    model = spoken(world, {"text": "done"})

    refused = world.run("run", "x", "-m", model, *policy(world, "{cost_usd_per_day: 1}"))
    left = [*world.state.glob("audit/*"), *world.state.glob("sessions/*/*")]
    told = world.run("run", "x", "-m", model)

    assert (refused.code, refused.out, left) == (7, "", [])
    assert "limits.cost_usd_per_day" in refused.err
    assert "model-cost.json" in refused.err
    assert "move the file away" in refused.err
    assert (told.code, told.out) == (0, "done\n")
    assert "cannot be counted" in told.err


def test_count_of_a_day_to_come_is_named_with_its_file(world):
    """The person learns what to mend, not that midnight will do it."""
    kept = {"version": 1, "day": "9999-01-01", "tokens": 0, "cost_usd": 1.0}
    world.state.mkdir()
    (world.state / "model-cost.json").write_text(json.dumps(kept))
    model = spoken(world, {"text": "done"})

    ended = world.run("run", "x", "-m", model, *policy(world, "{cost_usd_per_day: 1}"))

    assert ended.code == 4
    assert f"{world.state / 'model-cost.json'} counts for 9999-01-01" in ended.err
    assert "put the day in the file right" in ended.err
    assert "when the day it is counted for is over" in ended.err


def test_policy_shows_explains_and_compares_the_day(world):
    limits = policy(world, "{cost_usd_per_day: 2.5}")

    shown = world.run("policy", "show", *limits)
    compared = world.run("policy", "diff", "default", limits[1])
    bad = world.run("policy", "lint", policy(world, "{cost_usd_per_day: 0}")[1])

    assert "limits.cost_usd_per_day" in shown.out
    assert "2.5" in shown.out
    assert "limits.cost_usd_per_day" in compared.out
    assert bad.code == 7
    assert "limits.cost_usd_per_day" in bad.err + bad.out
