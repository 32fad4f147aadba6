import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.host_repository import Repository
from tests.support.workspaces import Desk, by_path, give, write

pytestmark = pytest.mark.docker

TEXT = "".join(f"{number}\n" for number in range(20))
BOX = "sed -i s/^3$/box/ 't e*xt'"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory that the project's owner may pass through: as whom git runs under root."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def repository(desk: Desk) -> Repository:
    """A copy session's project, with a file in its history."""
    desk.mode = "copy"
    for name in ("config", "HEAD"):
        (desk.project / ".git" / name).unlink()
    made = Repository(desk.project)
    write(made.root, {"t e*xt": TEXT})
    made.begin()
    return made


def mine(text: str = TEXT) -> str:
    return text.replace("17\n", "mine\n")


@pytest.mark.parametrize("committed", [False, True])
def test_text_that_went_in_is_found_in_index_or_history(desk, repository, committed):
    """Nobody looked before the person's edit; the repository knows how it began."""
    workspace = desk.work(BOX)
    (repository.root / "t e*xt").write_text(mine())
    if committed:
        repository.commit({})

    assert by_path(desk.look(workspace))["t e*xt"].merged
    desk.take(workspace)

    assert (repository.root / "t e*xt").read_text() == mine().replace("3\n", "box\n", 1)


def test_text_that_was_never_committed_is_no_base(desk, repository):
    """Another version of the file is not taken for what went in."""
    (repository.root / "t e*xt").write_text(TEXT + "uncommitted\n")
    give(repository.root)
    workspace = desk.work(BOX)
    (repository.root / "t e*xt").write_text(mine(TEXT + "uncommitted\n"))

    assert by_path(desk.look(workspace))["t e*xt"].conflict


def test_broken_repository_leaves_the_conflict(desk, repository):
    """Without an error of its own."""
    workspace = desk.work(BOX)
    (repository.root / "t e*xt").write_text(mine())
    (repository.root / ".git/HEAD").write_text("broken")

    assert by_path(desk.look(workspace))["t e*xt"].conflict
