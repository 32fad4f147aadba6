"""Row 6 of the attack table and its kin: a hidden file by a hard link, a symlink, another case."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.errors import WorkspaceError
from tests.support.workspaces import Desk, give, play_box, write

pytestmark = pytest.mark.docker


@pytest.fixture(params=["overlay", "copy", "bind"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    project = tmp_path / "project"
    write(project, {".env": "S3CRET", "deep/.ENV": "S3CRET", "app.py": "plain text\n"})
    os.link(project / ".env", project / "notes[1].txt")
    (project / "link").symlink_to(".env")
    (project / "up").symlink_to("deep/../.env")
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        made = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), project, request.param)
        yield made
        made.clean()


def test_no_name_leads_to_a_hidden_file(desk: Desk) -> None:
    """All names are tried inside; the plain file proves that the search works."""
    _, prepared = desk.begin()

    said = play_box(
        desk.engine,
        prepared,
        "cat app.py; grep -rl S3CRET . ; cat .env deep/.ENV link up 'notes[1].txt'; true",
    )

    print(said)
    assert "plain text" in said
    assert "S3CRET" not in said


def test_other_name_of_a_hidden_file_cannot_be_written_home(desk: Desk) -> None:
    """What the box makes there is refused: it would overwrite the secret by its twin."""
    workspace, prepared = desk.begin()
    play_box(desk.engine, prepared, "echo evil > 'notes[1].txt' || true")

    refused = {change.path: change.refused for change in desk.look(workspace).changes}

    if desk.mode != "bind":
        assert refused == {"notes[1].txt": "policy hides this path from the box"}
    assert (desk.project / "notes[1].txt").read_text() == "S3CRET"


def test_late_secret_is_told_of(desk: Desk) -> None:
    """A live view shows what appears; a copy does not, and says nothing."""
    workspace, prepared = desk.begin()
    write(desk.project, {"late/.env": "S3CRET"})
    (desk.project / ".npmrc").write_text("//n.example/:_authToken=S3CRET\n")
    play_box(desk.engine, prepared, "cat late/.env || true")

    notes = [note.partition(":")[0] for note in desk.look(workspace).notes if "may have" in note]

    assert notes == ([] if desk.mode == "copy" else [".npmrc", "late/.env"])


def test_live_directory_with_a_way_out_is_refused(desk: Desk) -> None:
    """In bind mode a write to a hard link would change the file outside."""
    write(desk.project.parent, {"outside": "mine"})
    os.link(desk.project.parent / "outside", desk.project / "inside")
    give(desk.project)

    if desk.mode == "bind":
        with pytest.raises(WorkspaceError, match="another name outside"):
            desk.begin()
    else:
        desk.work("echo evil > inside")
        assert (desk.project.parent / "outside").read_text() == "mine"
