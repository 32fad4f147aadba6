import json

import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import ConfigError
from orchestrator.harness.trust import TrustStore, as_rows
from orchestrator.schema.ids import Digest

ONE, TWO = Digest("sha256:1"), Digest("sha256:2")


@pytest.fixture
def store(tmp_path):
    return TrustStore(Paths(tmp_path / "state", tmp_path / "config"))


@pytest.fixture
def project(tmp_path):
    return tmp_path / "project"


def test_answer_holds_for_its_inputs_alone(store, project, tmp_path):
    """Another digest, and another project with the same files, are other questions."""
    store.remember(project, ONE, what="Dockerfile", yes=True, by="terminal")

    assert store.answer(project, ONE).answer == "yes"
    assert store.answer(project, TWO) is None
    assert store.answer(tmp_path / "other", ONE) is None


def test_later_answer_takes_the_place_of_the_earlier(store, project):
    """And leaves those for other inputs alone."""
    store.remember(project, TWO, what="D", yes=False, by="terminal")
    store.remember(project, ONE, what="D", yes=True, by="terminal")
    store.remember(project, ONE, what="D", yes=False, by="flag")

    assert store.answer(project, ONE).answer == "no"
    [row] = as_rows(store.projects())
    assert [each["digest"] for each in row["answers"]] == [TWO, ONE]
    assert row["directory"] == str(project)


def test_revoked_project_is_asked_again(store, project):
    """Nothing is left, and doing so twice is no error."""
    store.remember(project, ONE, what="D", yes=True, by="terminal")

    assert store.revoke(project) == 1
    assert store.answer(project, ONE) is None
    assert store.revoke(project) == 0
    assert store.projects() == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2, "directory": "x"}'])
def test_broken_file_is_an_error_not_an_answer(store, project, text):
    """Neither a yes by accident nor a silent new question."""
    store.remember(project, ONE, what="D", yes=True, by="terminal")
    [path] = (store._folder).glob("*.json")
    path.write_text(text)

    with pytest.raises(ConfigError, match="cannot be read as answers") as caught:
        store.answer(project, ONE)
    assert str(path) in caught.value.hint


def test_answers_are_the_users_own_file(store, project):
    """Other users of the machine need not know the projects."""
    store.remember(project, ONE, what="D", yes=True, by="terminal")
    [path] = store._folder.glob("*.json")

    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["version"] == 1
