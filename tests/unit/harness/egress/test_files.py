"""Whatever a session's policy comes from is looked at, also what is not there yet."""

import os
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.harness.egress.files import PolicyFiles
from orchestrator.harness.options import RunOptions
from orchestrator.policy.owned_folder import OwnedFolder


@pytest.fixture
def policy(tmp_path):
    file = tmp_path / "work.yaml"
    parent = tmp_path / "parent.yaml"
    parent.write_text("version: 1\nname: parent\n")
    file.write_text("version: 1\nname: work\nextends: [./parent.yaml]\n")
    return file


@pytest.fixture
def files(tmp_path, policy):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "etc" / "glovebox").mkdir(parents=True)
    options = RunOptions(
        prompt=None, directory=project, model="none", policies=("offline", str(policy))
    )
    paths = Paths(tmp_path / "state", tmp_path / "config")
    return PolicyFiles(options, paths, system=OwnedFolder(tmp_path, owner=os.getuid()))


def twice(files):
    """Look twice: what changed is told of a second time, as it may have changed again meanwhile."""
    return [{path.name for path in files.changed()} for _ in range(3)]


def test_nothing_that_stays_has_changed(files):
    assert files.changed() == ()


def test_changed_file_is_told_of_twice(files, policy):
    policy.write_text("version: 1\nname: other\n")

    assert twice(files) == [{"work.yaml"}, {"work.yaml"}, set()]


@pytest.mark.parametrize(
    "name",
    ["parent.yaml", "config/policy.yaml", "project/.glovebox/policy.yaml", "etc/glovebox/org.yaml"],
)
def test_every_source_is_looked_at(files, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("version: 1\nname: fresh\n")

    assert Path(name).name in twice(files)[0]


def test_file_that_is_gone_has_changed(files, policy):
    policy.unlink()

    assert "work.yaml" in twice(files)[0]
    policy.write_text("version: 1\nname: back\n")
    assert "work.yaml" in twice(files)[0]


def test_file_that_one_extends_only_now_is_looked_at_from_then_on(files, policy, tmp_path):
    late = tmp_path / "late.yaml"
    late.write_text("version: 1\nname: late\n")
    policy.write_text("version: 1\nname: work\nextends: [./late.yaml]\n")
    twice(files)
    late.write_text("version: 1\nname: later\n")

    assert twice(files)[0] == {"late.yaml"}


def test_word_about_a_project_is_a_change(files, tmp_path):
    (tmp_path / "state" / "trust").mkdir(parents=True)

    assert "trust" in twice(files)[0]
