import stat

import anyio
import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.handover import read_changes, read_pieces
from orchestrator.workspace.merging import Sides
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.portions import HunkChoice
from tests.support.workspaces import by_path, give, play_box, write

pytestmark = pytest.mark.docker

TEXT = "".join(f"line {number}\n" for number in range(1, 21))


def box_text(*edits: tuple[int, str]) -> str:
    """Return a script that changes lines of the file by number."""
    return "sed -i " + " ".join(f"-e '{number}s/.*/{text}/'" for number, text in edits) + " text"


def with_lines(*edits: tuple[int, str]) -> str:
    lines = TEXT.splitlines()
    for number, text in edits:
        lines[number - 1] = text
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def desk(any_desk):
    write(any_desk.project, {"text": TEXT})
    give(any_desk.project)
    return any_desk


def test_both_sides_arrive_once_the_beginning_was_seen(desk):
    """The host's newer line and the box's are both in the result, and nothing waits."""
    workspace = desk.work(box_text((2, "box")) + "; chmod +x text")
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((15, "host")))

    change = by_path(desk.look(workspace))["text"]
    applied = desk.take(workspace)

    assert change.conflict == ""
    assert change.merged == "merged with your newer work"
    assert applied.nothing_left
    assert (desk.project / "text").read_text() == with_lines((2, "box"), (15, "host"))
    assert stat.S_IMODE((desk.project / "text").stat().st_mode) & 0o111 == 0o111


def test_overlap_is_a_conflict_with_both_texts(desk):
    """Whoever reads it sees what each side has there."""
    workspace = desk.work(box_text((2, "box"), (9, "same")))
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((2, "host"), (9, "same")))

    change = by_path(desk.look(workspace))["text"]

    assert "both sides changed one place" in change.conflict
    assert [(o.line, o.ours, o.theirs) for o in change.overlaps] == [(2, ("host\n",), ("box\n",))]
    with pytest.raises(WorkspaceError, match="conflict"):
        desk.take(workspace)


def test_no_look_means_no_merge(desk):
    """Whether the box saw the newer text cannot be known; nothing is guessed."""
    workspace = desk.work(box_text((2, "box")))
    (desk.project / "text").write_text(with_lines((15, "host")))

    change = by_path(desk.look(workspace))["text"]

    assert change.conflict
    assert not change.merged


def test_session_that_goes_on_after_a_merge_merges_again(desk):
    """Neither the next look nor the next apply takes the host's lines back."""
    workspace, prepared = desk.begin()
    play_box(desk.engine, prepared, box_text((2, "box")) + "; echo x > waits")
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((15, "host")))
    desk.take(workspace, Selection(globs=("text",)))
    assert "text" not in by_path(desk.look(workspace))

    again, prepared = desk.begin(workspace.site.record.session)
    play_box(desk.engine, prepared, box_text((5, "box again")))
    desk.take(again)

    assert (desk.project / "text").read_text() == with_lines(
        (2, "box"), (15, "host"), (5, "box again")
    )


def test_hunks_of_a_merge_leave_the_rest_to_be_merged(desk):
    """After a part was taken, the host's own lines still are no change of the box's."""
    workspace = desk.work(box_text((2, "box"), (18, "box too")))
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((10, "host")))
    changes = desk.look(workspace)

    from_shown = pieces(workspace, changes)["text"]
    assert len(from_shown.hunks) == 2
    take_hunk(desk, workspace, from_shown, 1)

    assert (desk.project / "text").read_text() == with_lines((2, "box"), (10, "host"))
    rest = pieces(workspace, desk.look(workspace))["text"]
    assert [line for line in rest.lines if line[0] in "+-"][2:] == ["-line 18", "+box too"]
    desk.take(workspace)
    assert (desk.project / "text").read_text() == with_lines(
        (2, "box"), (10, "host"), (18, "box too")
    )


def pieces(workspace, changes):
    return {p.change.path: p for p in anyio.run(read_pieces, workspace, changes.changes)}


def take_hunk(desk, workspace, piece, number):
    choice = HunkChoice(frozenset({number}), piece.digest)
    return desk.take(workspace, Selection(hunks={piece.change.path: choice}))


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_favoured_side_decides_where_both_changed_and_nowhere_else(desk, side):
    """The other lines of both arrive."""
    workspace = desk.work(box_text((2, "box"), (6, "box")))
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((2, "host"), (15, "host")))

    changes = anyio.run(read_changes, workspace, Sides(**{side: ("text",)}))
    desk.apply(workspace, changes)

    winner = {"ours": "host", "theirs": "box"}[side]
    assert (desk.project / "text").read_text() == with_lines((2, winner), (6, "box"), (15, "host"))


def test_deleted_and_occupied_names_come_back_only_when_told(desk):
    """Theirs brings back what the person deleted, and replaces what they made."""
    workspace = desk.work("echo box >> app.py; echo box > made; cp /bin/true run.sh")
    (desk.project / "made").write_text("host\n")
    (desk.project / "run.sh").write_bytes(b"\0host")
    (desk.project / "app.py").unlink()

    assert {c.path for c in desk.look(workspace).conflicts} == {"app.py", "made", "run.sh"}
    changes = anyio.run(read_changes, workspace, Sides(theirs=("*",)))
    desk.apply(workspace, changes)

    assert (desk.project / "app.py").read_text() == "print('one')\nbox\n"
    assert (desk.project / "made").read_text() == "box\n"
    assert (desk.project / "run.sh").read_bytes().startswith(b"\x7fELF")


def test_second_session_merges_with_what_the_first_brought(desk):
    """Two sessions on one directory: other lines go together, the same lines conflict."""
    first, second, third = (
        desk.work(box_text((2, "first"))),
        desk.work(box_text((15, "second"))),
        desk.work(box_text((2, "third"))),
    )
    for workspace in (first, second, third):
        desk.look(workspace)

    desk.take(first)
    desk.take(second)

    assert (desk.project / "text").read_text() == with_lines((2, "first"), (15, "second"))
    with pytest.raises(WorkspaceError, match="both sides changed one place"):
        desk.take(third)
    assert (desk.project / "text").read_text() == with_lines((2, "first"), (15, "second"))


def test_change_that_the_host_has_by_now_is_none(desk):
    """Somebody typed the same, and more."""
    workspace = desk.work(box_text((2, "same")))
    desk.look(workspace)
    (desk.project / "text").write_text(with_lines((2, "same"), (15, "more")))

    assert not desk.look(workspace)
