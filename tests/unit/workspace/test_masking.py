"""Credentials stay out of real boxes in every mode, and a changed file gets them back or nothing."""

from __future__ import annotations

import pytest

from orchestrator.workspace.masking import MOST_BYTES, find_kept
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import by_path, give, play_box, write

pytestmark = pytest.mark.docker

NPMRC = "registry=https://npm.example/\n//npm.example/:_authToken=T0p-s3cret\n"
PYPIRC = "[pypi]\nrepository = https://a.example\npassword = T0p-s3cret\n"


@pytest.fixture
def project_with_secrets(project):
    write(
        project,
        {
            ".npmrc": NPMRC,
            "sub/.pypirc": PYPIRC,
            ".git/config": "[remote]\n\turl = https://me:T0p-s3cret@git.example/x\n",
        },
    )
    (project / ".npmrc").chmod(0o600)
    give(project)
    return project


def see(desk, script="true"):
    """What a box reads of all files, and the workspace it leaves."""
    workspace, prepared = desk.begin()
    show = "cat .npmrc sub/.pypirc .git/config; grep -rl T0p-s3cret . || echo none; stat -c %a .npmrc\n"
    return play_box(desk.engine, prepared, show + script), workspace


@pytest.mark.usefixtures("project_with_secrets")
def test_box_sees_placeholders_and_that_is_no_change(any_desk):
    """The file is there, its owner and mode too, and nothing waits afterwards."""
    said, workspace = see(any_desk)

    assert "T0p-s3cret" not in said
    assert "//npm.example/:_authToken=glovebox-masked-1" in said
    assert "https://me:glovebox-masked-1@git.example/x" in said
    assert said.splitlines()[-2:] == ["none", "600"]
    assert by_path(any_desk.look(workspace)) == {}


@pytest.mark.usefixtures("project_with_secrets")
def test_touched_file_with_the_same_text_is_no_change(any_desk):
    """A copy in the upper layer that says the same is the same."""
    _, workspace = see(any_desk, "cat .npmrc > x; cat x > .npmrc; rm x")

    assert by_path(any_desk.look(workspace)) == {}


def test_changed_file_gets_its_credential_back(any_desk, project_with_secrets):
    """On the host stands what the box made of it, with the real value."""
    _, workspace = see(any_desk, "sed -i '1i save-exact=true' .npmrc")

    changes = by_path(any_desk.look(workspace))
    applied = any_desk.take(workspace)

    assert set(changes) == {".npmrc"}
    assert applied.complete
    assert (project_with_secrets / ".npmrc").read_text() == "save-exact=true\n" + NPMRC
    assert by_path(any_desk.look(workspace)) == {} if not applied.nothing_left else True


@pytest.mark.parametrize(
    ("path", "script"),
    [
        (".npmrc", "sed -i s,//npm.example,//evil.example, .npmrc"),
        (".npmrc", "sed -i s,https://npm.example/,https://evil.example/glovebox-masked-1, .npmrc"),
        ("sub/.pypirc", "sed -i s,a.example,evil.example, sub/.pypirc"),
    ],
)
def test_credential_is_never_sent_elsewhere(any_desk, project_with_secrets, path, script):
    """A placeholder in a changed place makes the change one that is refused."""
    before = (project_with_secrets / path).read_text()
    _, workspace = see(any_desk, script)

    change = by_path(any_desk.look(workspace))[path]
    applied = any_desk.take(workspace)

    assert "placeholder" in change.refused
    assert [left.path for left in applied.left] == [path]
    assert (project_with_secrets / path).read_text() == before


def test_deleting_and_replacing_are_changes_as_of_any_file(any_desk, project_with_secrets):
    """Without a placeholder there is nothing to put back."""
    _, workspace = see(any_desk, "rm .npmrc; echo '[pypi]' > sub/.pypirc")

    changes = by_path(any_desk.look(workspace))
    any_desk.take(workspace)

    assert {path: change.kind for path, change in changes.items()} == {
        ".npmrc": "deleted",
        "sub/.pypirc": "modified",
    }
    assert not (project_with_secrets / ".npmrc").exists()
    assert (project_with_secrets / "sub/.pypirc").read_text() == "[pypi]\n"


def test_changed_mode_alone_is_a_change_of_mode(any_desk, project_with_secrets):
    """The content is the host's."""
    _, workspace = see(any_desk, "chmod 640 .npmrc")

    assert by_path(any_desk.look(workspace))[".npmrc"].kind == "mode"
    any_desk.take(workspace)
    assert (project_with_secrets / ".npmrc").read_text() == NPMRC


def test_bind_mode_covers_the_file(desk, project_with_secrets):
    """Read-only, as a write would reach the real one."""
    desk.mode = "bind"
    said, _ = see(desk, "echo x >> .npmrc || echo refused")

    assert "T0p-s3cret" not in said
    assert "refused" in said
    assert (project_with_secrets / ".npmrc").read_text() == NPMRC


def test_scan_finds_both_kinds_and_enters_directories_with_such_names(tmp_path):
    """A directory that is called like a settings file hides nothing that is in it."""
    write(tmp_path, {"settings.xml/.env": "x", "a/.npmrc": NPMRC, ".npmrc": "a=b\n", ".env": "x"})
    (tmp_path / "big").mkdir()
    for name in ("pip.conf", "config"):
        (tmp_path / "big" / name).write_bytes(b"x" * (MOST_BYTES + 1))

    with open_tree(tmp_path) as tree:
        kept = find_kept(tree, ["**/.env"])

    assert sorted(kept.hidden) == [".env", "big/pip.conf", "settings.xml/.env"]
    assert set(kept.masked) == {"a/.npmrc"}
