import pytest

from orchestrator.workspace.bases import Bases
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Moment
from tests.support.workspaces import by_path, give, play_box, write

pytestmark = pytest.mark.docker

TEXT = "".join(f"{number}\n" for number in range(20))


@pytest.fixture
def project(project):
    write(project, {"text": TEXT, "other": TEXT})
    give(project)
    return project


def test_edit_while_the_session_runs_is_merged(desk):
    """The beginning was kept after the turn that changed the file, before the person's edit."""
    workspace, prepared = desk.begin()
    play_box(desk.engine, prepared, "sed -i s/^3$/box/ text; printf '\\0' > run.sh; mkfifo f")
    history = FileHistory(workspace)
    history.take(Moment("turn", 1, "a"))
    (desk.project / "text").write_text(TEXT.replace("17\n", "mine\n"))

    change = by_path(desk.look(workspace))["text"]

    assert change.merged
    desk.take(workspace, Selection(globs=("text",)))
    assert (desk.project / "text").read_text() == TEXT.replace("17\n", "mine\n").replace(
        "3\n", "box\n", 1
    )
    assert Bases.load(workspace.site.folder).digest("f") == ""


def test_file_that_the_person_edited_first_has_no_base(desk):
    """The box may have seen either text."""
    workspace, prepared = desk.begin()
    (desk.project / "text").write_text(TEXT.replace("17\n", "mine\n"))
    play_box(desk.engine, prepared, "sed -i s/^3$/box/ text other")

    FileHistory(workspace).take(Moment("turn", 1, "a"))

    assert Bases.load(workspace.site.folder).paths() == ["other"]


def test_going_back_before_a_change_forgets_how_it_began(desk):
    """From then on the box sees the host's file of now."""
    workspace, prepared = desk.begin()
    history = FileHistory(workspace)
    history.take(Moment("start"))
    play_box(desk.engine, prepared, "sed -i s/^3$/box/ text")
    history.take(Moment("turn", 1, "a"))
    assert Bases.load(workspace.site.folder).paths() == ["text"]

    history.rewind(1, now=Moment("turn", 1, "a"), then=Moment("rewound", 0, "b"))

    assert Bases.load(workspace.site.folder).paths() == []
