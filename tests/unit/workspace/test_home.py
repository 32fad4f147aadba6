"""A project's home in the box."""

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import BASE
from orchestrator.engine.home_volumes import list_homes, made_mark
from orchestrator.engine.labels import OWNER, owner_label
from orchestrator.engine.volumes import HomeOwner, create_volume, remove_volume
from orchestrator.errors import EngineError
from orchestrator.workspace.home import (
    HomeSpec,
    forget_home,
    forget_lost_homes,
    home_name,
    own_homes,
    prepare_home,
)
from tests.support.boxes import small_spec

pytestmark = pytest.mark.docker

TARGET = "/home/agent"


@pytest.fixture
def spec(project):
    return HomeSpec(project, TARGET, 1000, 1000, BASE, {OWNER: owner_label()})


@pytest.fixture(autouse=True)
def gone_afterwards(engine, spec, paths):
    yield
    remove_volume(engine, home_name(spec.project, spec.uid, paths=paths))


def test_what_one_session_leaves_the_next_one_finds(stage, engine, paths, spec):
    """The volume belongs to the commands' user, and outlives its box."""
    for command, expected in (
        ("stat -c '%u:%g %a' ~ && echo kept > ~/.cache.txt", "1000:1000 700\n"),
        ("cat ~/.cache.txt", "kept\n"),
    ):
        mount = prepare_home(spec, paths=paths, engine=engine)
        box = small_spec(stage.image)
        found = stage.play(
            lambda scene, command=command: scene.output(command),
            mounts=(*box.mounts, mount),
        )
        assert found == expected


def test_volume_that_was_not_handed_over_is_made_again(engine, paths, spec):
    """A process that died between the two steps leaves a volume that only root may write."""
    name = home_name(spec.project, spec.uid, paths=paths)
    create_volume(engine, name, owner=HomeOwner(spec.project, paths.homes / name))

    prepare_home(spec, paths=paths, engine=engine)

    ready = (paths.homes / name / "ready").read_text()
    assert ready == made_mark(engine, name, project=str(spec.project))


def test_another_ones_volume_is_not_taken(engine, spec, paths):
    """A volume of that name without our labels is no home."""
    name = home_name(spec.project, spec.uid, paths=paths)
    engine.api.create_volume(name=name)

    assert made_mark(engine, name, project=str(spec.project)) is None


def test_other_users_and_other_states_have_other_homes(spec, paths, tmp_path):
    """Files of one would be closed to the other, or removed by it as unknown."""
    other = Paths(tmp_path / "other", tmp_path / "config")
    names = {
        home_name(spec.project, 1000, paths=paths),
        home_name(spec.project, 1001, paths=paths),
        home_name(spec.project, 1000, paths=other),
    }

    assert len(names) == 3


def test_state_lists_its_own_homes_alone(engine, paths, spec, tmp_path):
    """Those of another state are not its to show or remove."""
    mount = prepare_home(spec, paths=paths, engine=engine)
    other = Paths(tmp_path / "other", tmp_path / "config")

    assert mount.source in [home.name for home in own_homes(paths, engine)]
    assert mount.source not in [home.name for home in own_homes(other, engine)]


def test_home_is_listed_and_forgotten(engine, paths, spec):
    """Under its project's path; afterwards nothing is left, on the host neither."""
    mount = prepare_home(spec, paths=paths, engine=engine)
    assert [home.name for home in list_homes(engine) if home.project == str(spec.project)] == [
        mount.source
    ]

    forget_home(mount.source, paths=paths, engine=engine)

    assert made_mark(engine, mount.source, project=str(spec.project)) is None
    assert list(paths.homes.iterdir()) == []


def test_home_in_use_is_kept(stage, engine, paths, spec):
    """Removing it would fail half-way; the error names who uses it."""
    mount = prepare_home(spec, paths=paths, engine=engine)

    async def try_it(_scene):
        with pytest.raises(EngineError, match=mount.source):
            forget_home(mount.source, paths=paths, engine=engine)

    stage.play(try_it, mounts=(*small_spec(stage.image).mounts, mount))
    assert made_mark(engine, mount.source, project=str(spec.project))


def test_home_goes_with_its_project_but_not_with_a_disk(engine, paths, spec):
    """A project that was removed is gone; one whose whole folder is away may come back."""
    mount = prepare_home(spec, paths=paths, engine=engine)
    away = spec.project.parent.with_name("away")
    spec.project.parent.rename(away)
    assert str(spec.project) not in forget_lost_homes(paths, engine)
    away.rename(spec.project.parent)

    spec.project.rename(spec.project.with_name("renamed"))
    assert str(spec.project) in forget_lost_homes(paths, engine)
    assert made_mark(engine, mount.source, project=str(spec.project)) is None
