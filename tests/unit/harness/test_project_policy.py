"""A project's own policy: read once, held once known, a change shown first."""

import os

import anyio
import pytest

from orchestrator.confirmation.answers import BlanketConfirmer, NobodyConfirmer, ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.confirmation.question_text import render_question
from orchestrator.errors import PolicyError
from orchestrator.harness.project_file import read_project_policy
from orchestrator.harness.project_policy import (
    project_policies,
    require_known,
    texts_of,
)
from orchestrator.harness.project_question import settle_project_policies
from orchestrator.harness.trust import TrustStore

FIRST = "version: 1\nname: ours\nlimits: {steps: 9}\n"
SECOND = FIRST.replace("9", "90")
YES = Answer(yes=True, by="terminal")


def write(project, text=FIRST):
    (project / ".glovebox").mkdir(exist_ok=True)
    (project / ".glovebox" / "policy.yaml").write_text(text)


def settle(project, paths, confirmer):
    async def ask():
        found = project_policies(project, paths)
        await settle_project_policies(found, paths, confirmer, timeout_s=1)

    anyio.run(ask)


def test_first_time_it_is_shown_whole_and_kept(project, paths):
    """And then nobody is asked again."""
    write(project)
    person = ScriptedConfirmer([YES])
    settle(project, paths, person)
    [question] = person.asked

    assert question.subject == FIRST
    assert question.decision.unyielding
    require_known(project_policies(project, paths))
    settle(project, paths, NobodyConfirmer())


def test_change_is_shown_as_a_difference(project, paths):
    """Until a person said yes to it, nothing starts."""
    write(project)
    settle(project, paths, ScriptedConfirmer([YES]))
    write(project, SECOND)
    with pytest.raises(PolicyError, match=r"policy.yaml:1: changed since a person said yes"):
        require_known(project_policies(project, paths))

    person = ScriptedConfirmer([YES])
    settle(project, paths, person)
    [question] = person.asked
    assert "-limits: {steps: 9}\n+limits: {steps: 90}" in question.subject
    shown = "\n".join(render_question(question, 100))
    assert "+limits: {steps: 90}" in shown
    require_known(project_policies(project, paths))


@pytest.mark.parametrize("change", ["\u2028", "\r", " ", "\n", "\u200b"])
def test_change_that_is_hardly_seen_is_shown(project, paths, change):
    """Every byte counts, and the question tells that something is there."""
    write(project)
    settle(project, paths, ScriptedConfirmer([YES]))
    write(project, FIRST + "#" + change)
    person = ScriptedConfirmer([YES])
    settle(project, paths, person)

    assert "+#" in person.asked[0].subject


def test_file_that_is_gone_is_a_change(project, paths):
    """Taking the rules away is not a way around them."""
    write(project)
    settle(project, paths, ScriptedConfirmer([YES]))
    (project / ".glovebox" / "policy.yaml").unlink()
    with pytest.raises(PolicyError, match="is gone, and nobody has said yes to that") as caught:
        require_known(project_policies(project, paths))
    assert "glovebox trust" in caught.value.hint

    person = ScriptedConfirmer([YES])
    settle(project, paths, person)
    assert "-limits: {steps: 9}" in person.asked[0].subject
    assert project_policies(project, paths) == ()
    assert TrustStore(paths).pinned(project) is None


@pytest.mark.parametrize(
    "confirmer",
    [
        NobodyConfirmer(),
        BlanketConfirmer(NobodyConfirmer()),
        ScriptedConfirmer([Answer(yes=False, by="terminal")]),
    ],
    ids=["nobody", "yolo", "no"],
)
def test_no_yes_no_start(project, paths, confirmer):
    """Nobody, a blanket yes, a no: exit 7 with the way to mend it, and nothing is kept."""
    write(project)

    with pytest.raises(PolicyError, match="nobody has said yes to this project's own") as caught:
        settle(project, paths, confirmer)
    assert caught.value.exit_code == 7
    assert f"glovebox trust {project}" in caught.value.hint
    assert not project_policies(project, paths)[0].is_known


def test_yes_in_one_project_is_none_in_another(project, paths, tmp_path):
    """The same text elsewhere is another project's."""
    write(project)
    settle(project, paths, ScriptedConfirmer([YES]))
    other = tmp_path / "other"
    other.mkdir()
    write(other)

    assert not project_policies(other, paths)[0].is_known


def test_session_below_the_root_is_under_the_roots_policy(project, paths):
    """As far up as the repository goes, and no further."""
    below = project / "a" / "b"
    below.mkdir(parents=True)
    write(project)
    write(below, SECOND)
    write(project.parent, "version: 1\nname: foreign\n")
    assert [text.data.decode() for text in texts_of(project_policies(below, paths))] == [SECOND]

    (project / ".git").write_text("gitdir: elsewhere")
    assert [text.data.decode() for text in texts_of(project_policies(below, paths))] == [
        SECOND,
        FIRST,
    ]


def test_what_is_no_plain_file_is_refused(project, tmp_path):
    """Links, pipes, folders, other names, too much: each with its place and a mend."""
    folder = project / ".glovebox"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "policy.yaml").write_text(FIRST)

    def refused(match):
        with pytest.raises(PolicyError, match=match) as caught:
            read_project_policy(project)
        assert caught.value.hint

    folder.symlink_to(outside)
    refused(r"\.glovebox: expected no symbolic link")
    folder.unlink()
    folder.mkdir()
    (folder / "policy.yaml").symlink_to(outside / "policy.yaml")
    refused(r"policy.yaml: expected no symbolic link")
    (folder / "policy.yaml").unlink()
    os.mkfifo(folder / "policy.yaml")
    refused(r"policy.yaml:1: expected a regular file")
    (folder / "policy.yaml").unlink()
    (folder / "policy.yaml").mkdir()
    refused(r"policy.yaml:1: expected a regular file")
    (folder / "policy.yaml").rmdir()
    (folder / "policy.yml").write_text(FIRST)
    refused(r"policy.yml:1: this name is not read; expected policy.yaml")
    (folder / "policy.yaml").write_text("#" * 300_000)
    refused(r"policy.yaml:1: file is too large")


def test_project_without_one_has_none(project):
    """Nor one whose folder is a file."""
    assert read_project_policy(project) is None
    (project / ".glovebox").write_text("")
    assert read_project_policy(project) is None


def test_hidden_characters_are_shown_as_what_they_are(project, paths):
    """A question does not move the cursor, and bytes that are no text are told too."""
    write(project)
    (project / ".glovebox" / "policy.yaml").write_bytes(b"name: a\x1b[2J\xff\n")
    person = ScriptedConfirmer([YES])
    settle(project, paths, person)
    shown = "\n".join(render_question(person.asked[0], 100))

    assert "\x1b" not in shown
    assert r"\xff" in shown
