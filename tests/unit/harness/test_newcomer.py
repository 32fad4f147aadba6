"""Directories that are new here: asked about once, and treated as a stranger's without a yes."""

import anyio
import pytest

from orchestrator.config.paths import Paths
from orchestrator.confirmation.answers import NobodyConfirmer, ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.harness.newcomer import UNVOUCHED, Newcomer
from orchestrator.harness.trust import TrustStore

USUAL = ("default",)


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Makefile").write_text("all:\n")
    return folder


def asked(paths, project, person):
    notes = []
    policies = anyio.run(Newcomer(paths, person, notes.append).policies, project, USUAL)
    return policies, notes


def says(yes):
    return ScriptedConfirmer([Answer(yes=yes, by="terminal")])


@pytest.mark.parametrize(("yes", "policies"), [(True, USUAL), (False, (UNVOUCHED,))])
def test_answer_decides_and_is_kept(paths, project, yes, policies):
    """The second session asks nobody."""
    first, _ = asked(paths, project, says(yes))
    second, _ = asked(paths, project, ScriptedConfirmer([]))

    assert first == second == policies
    assert TrustStore(paths).vouched(project) is yes


def test_question_that_ran_out_is_no_vouching_and_not_kept(paths, project):
    """Whoever looked away is asked again."""
    policies, notes = asked(paths, project, NobodyConfirmer())

    assert policies == (UNVOUCHED,)
    assert UNVOUCHED in notes[0]
    assert TrustStore(paths).vouched(project) is None


def test_without_a_person_the_usual_policy_holds_and_that_is_said(paths, project):
    """A pipeline chose its policy by not naming one; it is told what else there is."""
    policies, (note,) = asked(paths, project, None)

    assert policies == USUAL
    assert "--policy untrusted-repo" in note


def test_no_is_kept_for_runs_without_a_person(paths, project):
    """Somebody said that these files are a stranger's."""
    TrustStore(paths).vouch(project, yes=False, by="flag")

    assert asked(paths, project, None)[0] == (UNVOUCHED,)


def test_directory_with_sessions_or_without_files_is_not_new(paths, project, tmp_path):
    """What was worked on before was chosen before; nothing can mislead in an empty one."""
    empty = tmp_path / "empty"
    empty.mkdir()
    folder = paths.project_sessions(project)
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_text("")

    assert asked(paths, project, ScriptedConfirmer([])) == (USUAL, [])
    assert asked(paths, empty, ScriptedConfirmer([])) == (USUAL, [])


def test_other_answers_of_the_project_stay(paths, project):
    """Vouching is one word of several; the newest counts."""
    store = TrustStore(paths)
    store.pin(project, "sha256:x", what="p", text="t", by="terminal")
    store.vouch(project, yes=True, by="flag")
    store.vouch(project, yes=False, by="flag")

    assert store.vouched(project) is False
    assert store.pinned(project) is not None
    assert len(store.projects()[0].answers) == 2
