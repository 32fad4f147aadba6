"""A warm box serves a run only where everything that the box is made of is equal."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.harness.governing import policy_of
from orchestrator.harness.options import LimitOptions, RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.recipe import (
    OPTIONS,
    box_key,
    brought_key,
    pool_id,
    recipe_of,
    why_cold,
)
from orchestrator.schema.ids import SessionId

RUN = RunOptions(prompt="do it", directory=Path("/src/app"), model="local")
PATHS = Paths(Path("/state"), Path("/config"))


def name(options, paths=PATHS, environ=None):
    return pool_id(recipe_of(options), paths, environ or {})


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "do more"},
        {"model": "anthropic/x"},
        {"approve": "deny"},
        {"on_ask": "stop"},
        {"yolo": True},
        {"limits": LimitOptions(steps=1)},
        {"tools": ("read",)},
        {"remarks": ("new here",)},
    ],
)
def test_what_the_box_does_not_depend_on_does_not_count(change):
    """The same box serves both."""
    assert name(replace(RUN, **change)) == name(RUN)


@pytest.mark.parametrize(
    "change",
    [
        {"directory": Path("/src/other")},
        {"policies": ("strict",)},
        {"image": "debian"},
        {"workspace": "none"},
        {"environment": {"CI": "1"}},
        {"add_dirs": (Path("/src/lib"),)},
    ],
)
def test_what_the_box_is_made_of_counts(change):
    """Another box, from another pool."""
    assert name(replace(RUN, **change)) != name(RUN)


def test_state_and_engine_count():
    """A box of another engine, or with its layers elsewhere, is no use."""
    assert name(RUN, Paths(Path("/other"), PATHS.config)) != name(RUN)
    assert name(RUN, environ={"DOCKER_HOST": "unix:///run/x.sock"}) != name(RUN)


def test_policy_file_is_the_same_from_everywhere():
    """The pool's process works in another directory."""
    assert recipe_of(replace(RUN, policies=("yolo", "./p.yaml"))).policies == (
        "yolo",
        str(Path("p.yaml").absolute()),
    )


def test_recipe_survives_the_way_through_a_file():
    """The pool's process makes the same box, under the same name."""
    recipe = recipe_of(replace(RUN, environment={"CI": "1"}))
    again = OPTIONS.validate_json(OPTIONS.dump_json(recipe))

    assert again == recipe
    assert pool_id(again, PATHS, {}) == pool_id(recipe, PATHS, {})


def test_who_commits_counts(tmp_path):
    """The box is told when it is made."""
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", project], check=True)
    run = replace(RUN, directory=project)
    before = brought_key(run)

    subprocess.run(["git", "-C", project, "config", "user.name", "Somebody Else"], check=True)

    assert brought_key(run) != before


def test_policy_counts(tmp_path):
    """A box made before a policy changed is not used after it."""
    paths = Paths(tmp_path / "state", tmp_path)
    before = RoomPlan(RUN, policy_of(RUN, paths), SessionId(""))
    (tmp_path / "policy.yaml").write_text("version: 1\nname: mine\nsandbox: {pids: 77}\n")
    after = RoomPlan(RUN, policy_of(RUN, paths), SessionId(""))

    assert box_key("pool", before) != box_key("pool", after)
    again = replace(before, session=SessionId("x"))
    assert box_key("pool", before) == box_key("pool", again)
    other = replace(before, options=replace(RUN, image="other"))
    assert box_key("pool", before) != box_key("pool", other)


@pytest.mark.parametrize(
    "change", [{"resume": "abc"}, {"resume_latest": True}, {"add_dirs": (Path("/src/lib"),)}]
)
def test_run_that_no_warm_box_can_serve_says_why(change):
    """What it needs is looked at when a box is made, or is another session's."""
    assert why_cold(replace(RUN, **change))
    assert why_cold(RUN) == ""
