"""Homes of projects, as the engine lists them."""

import os
from pathlib import Path

import pytest

from orchestrator.engine.home_volumes import list_homes, made_mark, volume_sizes
from orchestrator.engine.volumes import HomeOwner, create_volume, remove_volume

pytestmark = pytest.mark.docker

NAME = f"glovebox-test-home-{os.getpid()}"
PROJECT = Path("/srv/nowhere/app")
FOLDER = Path("/srv/nowhere/state/homes/app")


@pytest.fixture
def volume(engine):
    create_volume(engine, NAME, owner=HomeOwner(PROJECT, FOLDER))
    yield NAME
    remove_volume(engine, NAME)


def test_home_is_listed_with_its_project_and_size(engine, volume):
    """Other volumes are not."""
    engine.api.create_volume(name=f"{NAME}-other")
    try:
        homes = {home.name: home for home in list_homes(engine)}
    finally:
        remove_volume(engine, f"{NAME}-other")

    assert (homes[volume].project, homes[volume].folder) == (str(PROJECT), FOLDER)
    assert volume_sizes(engine)[volume] == 0
    assert f"{NAME}-other" not in homes


def test_creation_is_told_for_its_own_project_alone(engine, volume):
    """What a volume is called says nothing of whose it is."""
    assert made_mark(engine, volume, project=str(PROJECT))
    assert made_mark(engine, volume, project="/srv/else") is None
    assert made_mark(engine, f"{NAME}-missing", project=str(PROJECT)) is None
