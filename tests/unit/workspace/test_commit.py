import os
import stat
from pathlib import Path

import pytest

from orchestrator.workspace.commit import Committer, RaceLost
from orchestrator.workspace.journal import Step
from orchestrator.workspace.moves import Linking, Swapping
from orchestrator.workspace.node import signature
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import picture, write


@pytest.fixture(params=[Swapping, Linking])
def place(tmp_path: Path, request):
    """A project, and a committer that works on it in each way."""
    root = tmp_path / "p"
    write(root, {"f": "old", "d/x": "1", "s/1": "new"})
    (root / "e").mkdir()
    with open_tree(root) as tree, tree.directory("s") as fd:
        yield root, Committer(tree, fd, request.param(fd), None)


def steps(root: Path) -> dict[str, Step]:
    seen, staged = signature((root / "f").stat()), signature((root / "s/1").stat())
    return {
        "create": Step("create", "new", slot="1", staged=staged),
        "replace": Step("replace", "f", slot="1", staged=staged, seen=seen),
        "remove": Step("remove", "f", slot="2", seen=seen),
        "mkdir": Step("mkdir", "n", 0o750),
        "rmdir": Step("rmdir", "e", 0o755),
        "chmod": Step("chmod", "f", 0o755, seen=seen),
    }


@pytest.mark.parametrize("op", ["create", "replace", "remove", "mkdir", "rmdir", "chmod"])
def test_step_can_be_repeated_and_undone(place, op):
    """Twice done is once done, and twice undone is as before."""
    root, committer = place
    step, before = steps(root)[op], picture(root)

    committer.undo(step)
    assert picture(root) == before
    committer.do(step)
    done = picture(root)
    assert done != before
    committer.do(step)
    assert picture(root) == done
    committer.undo(step)
    committer.undo(step)
    assert picture(root) == before
    assert committer.kept == []


@pytest.mark.parametrize("op", ["replace", "remove", "chmod"])
def test_step_loses_a_race_against_any_edit(place, op):
    """The edited file is back in its place."""
    root, committer = place
    step = steps(root)[op]
    (root / "f").write_text("edited")

    with pytest.raises(RaceLost):
        committer.do(step)

    assert (root / "f").read_text() == "edited"


def test_name_that_is_taken_loses_a_creation_its_race(place):
    """A file, a directory and a dangling link all keep their name."""
    root, committer = place
    for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("none")):
        make(root / "new")
        with pytest.raises(RaceLost):
            committer.do(steps(root)["create"])
        (root / "new").rmdir() if (root / "new").is_dir() else (root / "new").unlink()


def test_directory_that_was_filled_loses_its_removal_the_race(place):
    """Only an empty directory goes."""
    root, committer = place
    (root / "e/mine").write_text("")

    with pytest.raises(RaceLost):
        committer.do(steps(root)["rmdir"])


def test_undo_keeps_what_somebody_made_meanwhile(place):
    """The replaced content stays in the staging directory, and the path is told."""
    root, committer = place
    step = steps(root)["replace"]
    committer.do(step)
    (root / "f").unlink()
    (root / "f").write_text("somebody's")

    committer.undo(step)

    assert committer.kept == ["f"]
    assert (root / "f").read_text() == "somebody's"
    assert (root / "s/1").read_text() == "old"


def test_mode_is_never_set_through_a_link(place):
    """A link that took the name's place is not followed."""
    root, committer = place
    step = steps(root)["chmod"]
    (root / "f").rename(root / "moved")
    (root / "f").symlink_to("moved")

    with pytest.raises(RaceLost):
        committer.do(step)

    assert stat.S_IMODE((root / "moved").stat().st_mode) == 0o644


def test_path_through_a_link_is_a_lost_race(place):
    """Whoever replaces a directory by a link stops the step."""
    root, committer = place
    (root / "d").rename(root / "real")
    (root / "d").symlink_to("real")

    with pytest.raises(RaceLost):
        committer.do(Step("create", "d/new", slot="1"))

    assert os.listdir(root / "real") == ["x"]  # noqa: PTH208 - names alone
