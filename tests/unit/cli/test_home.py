"""``glovebox home`` as a person runs it."""

import json
from contextlib import closing

import pytest

from orchestrator.engine.client import connect
from orchestrator.engine.volumes import HomeOwner, create_volume, remove_volume

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]


@pytest.fixture
def home(world):
    """A home of the world's project."""
    name = f"glovebox-home-test-{world.root.name}"
    with closing(connect()) as engine:
        create_volume(engine, name, owner=HomeOwner(world.project, world.state / "homes" / name))
        yield name
        remove_volume(engine, name)


def test_home_is_listed_and_removed(world, home):
    """By the directory one stands in; a second time there is nothing to remove."""
    listed = json.loads(world.run("home", "list", "--json").out)["homes"]
    assert home in [found["name"] for found in listed]
    assert str(world.project) in world.run("home", "list").out

    removed = world.run("home", "rm")
    assert (removed.code, str(world.project) in removed.out) == (0, True)
    again = world.run("home", "rm")
    assert again.code == 2
    assert "keeps no home" in again.err


def test_sweep_takes_the_homes_of_projects_that_are_gone(world, home):
    """And says so."""
    world.project.rename(world.root / "moved")
    world.project.mkdir()
    assert home not in world.run("gc", "--json").out
    world.project.rmdir()
    (world.root / "elsewhere").mkdir()

    done = json.loads(world.run("gc", "--json", cwd=world.root / "elsewhere").out)
    assert str(world.project) in done["homes"]
