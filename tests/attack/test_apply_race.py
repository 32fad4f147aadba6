"""Whoever renames directories while an apply runs cannot lead it out of the directory."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.apply import commit_changes, finish, take_back
from orchestrator.workspace.beneath import exchange
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.journal import read_journal
from orchestrator.workspace.node import Limits
from orchestrator.workspace.tree import open_tree
from orchestrator.workspace.upper import read_upper
from tests.support.host_apply import apply_all, changes_between, opener, target
from tests.support.workspaces import picture, write

ROUNDS = 30


@contextmanager
def meanwhile(step: Callable[[], None]) -> Iterator[None]:
    """Repeat a step in a thread of its own until the block ends."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            step()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def swapping(folder: Path, name: str, other: str) -> Iterator[None]:
    """Swap two names as fast as the kernel can, until the block ends."""
    fd = os.open(folder, os.O_RDONLY)

    def swap() -> None:
        with suppress(FileNotFoundError):
            exchange(name, other, src_fd=fd, dst_fd=fd)

    try:
        with meanwhile(swap):
            yield
    finally:
        os.close(fd)


def test_directory_swapped_for_a_link_never_leads_an_apply_out(tmp_path: Path) -> None:
    """On the host side: each round is applied inside or given up, and outside nothing changes."""
    outside, project, wanted = tmp_path / "outside", tmp_path / "project", tmp_path / "wanted"
    write(outside, {"victim": "untouched", "old": "untouched"})
    write(project, {"d/old": "1", "keep": "1"})
    write(wanted, {"d/new": "2", "d/victim": "3", "keep": "1"})
    (project / "decoy").symlink_to(outside)
    (wanted / "decoy").symlink_to(outside)
    before = picture(outside)
    folder = tmp_path / "folder"
    folder.mkdir()

    given_up = 0
    for _ in range(ROUNDS):
        shutil.rmtree(project)
        write(project, {"d/old": "1", "keep": "1"})
        (project / "decoy").symlink_to(outside)
        changes, there = changes_between(project, wanted), target(project, folder)
        with swapping(project, "d", "decoy"):
            try:
                commit_changes(there, changes, opener(wanted))
            except WorkspaceError:
                given_up += 1
        finish(there)
        assert picture(outside) == before
    assert given_up


def test_link_swapped_into_the_box_never_leads_a_reading_out(tmp_path: Path) -> None:
    """On the box's side: no content of the host outside is ever taken for the box's."""
    outside, upper, host = tmp_path / "outside", tmp_path / "upper", tmp_path / "host"
    write(outside, {"file": "secret of the host"})
    write(upper, {"d/file": "of the box"})
    (upper / "decoy").symlink_to(outside)
    host.mkdir()

    seen: set[str] = set()
    for _ in range(ROUNDS):
        with (
            swapping(upper, "d", "decoy"),
            open_tree(upper) as up,
            open_tree(host) as down,
            suppress(WorkspaceError),
        ):
            found = read_upper(up, down, hidden=path_globs(()), limits=Limits())
            seen.update(node.sha256 for node in found.box.values() if node.type == "file")

    with open_tree(outside) as tree, open_tree(host) as down:
        secret = read_upper(tree, down, hidden=path_globs(()), limits=Limits()).box["file"].sha256
    assert secret not in seen


def test_file_swapped_for_a_fifo_never_blocks_a_reading(tmp_path: Path) -> None:
    """A FIFO without a writer would hold an opening for ever."""
    upper, host = tmp_path / "upper", tmp_path / "host"
    write(upper, {"file": "x"})
    os.mkfifo(upper / "fifo")
    host.mkdir()

    for _ in range(ROUNDS):
        with (
            swapping(upper, "file", "fifo"),
            open_tree(upper) as up,
            open_tree(host) as down,
            suppress(WorkspaceError),
        ):
            read_upper(up, down, hidden=path_globs(()), limits=Limits())


@pytest.mark.parametrize("kind", ["link", "directory"])
def test_target_swapped_for_something_else_is_put_back(tmp_path: Path, kind: str) -> None:
    """A name that became a link or a directory after the look is not replaced."""
    project, wanted, folder = tmp_path / "project", tmp_path / "wanted", tmp_path / "folder"
    write(project, {"a": "1", "z/b": "2"})
    write(wanted, {"a": "one", "z/b": "two"})
    write(tmp_path, {"outside/b": "untouched"})
    folder.mkdir()

    def swap(number: int) -> None:
        if number == 1:
            (project / "z/b").unlink()
            if kind == "link":
                (project / "z/b").symlink_to(tmp_path / "outside/b")
            else:
                (project / "z/b").mkdir()

    with pytest.raises(WorkspaceError, match="put back"):
        apply_all(project, folder, wanted, on_step=swap)

    assert (tmp_path / "outside/b").read_text() == "untouched"
    assert (project / "a").read_text() == "1"
    assert (project / "z/b").is_symlink() == (kind == "link")


@contextmanager
def moving(project: Path) -> Iterator[None]:
    """Move a directory away and a link out into its place, and back, until the block ends."""

    def move() -> None:
        with suppress(OSError):
            (project / "d").rename(project / "d_real")
            (project / "d").symlink_to("/nonexistent")
        with suppress(OSError):
            (project / "d").unlink()
        with suppress(OSError):
            (project / "d_real").rename(project / "d")

    try:
        with meanwhile(move):
            yield
    finally:
        with suppress(OSError):
            (project / "d").unlink()
        with suppress(OSError):
            (project / "d_real").rename(project / "d")


def test_message_of_a_raced_apply_is_exactly_true(tmp_path: Path) -> None:
    """Put back means that nothing stays; what is out of reach is taken back by the next command."""
    project, wanted, folder = tmp_path / "project", tmp_path / "wanted", tmp_path / "folder"
    files = {f"d/{number}": "new" for number in range(300)}
    write(wanted, {**files, "d/old": "2", "d/sub/x": "3"})
    folder.mkdir()

    lost = 0
    for _ in range(ROUNDS):
        shutil.rmtree(project, ignore_errors=True)
        write(project, {"d/old": "1", "d/7": "was"})
        before = picture(project)
        changes, there = changes_between(project, wanted), target(project, folder)
        with moving(project):
            try:
                commit_changes(there, changes, opener(wanted))
            except WorkspaceError as err:
                lost += 1
                said = err.message
            else:
                said = ""
        if not said:
            # It met nobody on its way.
            finish(there)
            assert picture(project) == picture(wanted)
            continue
        journal = read_journal(folder)
        if journal is not None:
            assert journal.phase == "undoing"
            assert f"{len(journal.steps)} names cannot be reached" in said
            with there.open() as tree:
                assert take_back(tree, folder, journal).words == "everything was put back"
        else:
            # The third is true as well: it is the directory that this test moves about.
            true = (
                "everything was put back",
                "cannot be staged",
                "all was put back but 'd', which",
            )
            assert any(words in said for words in true), said
        assert picture(project) == before
        assert read_journal(folder) is None
    assert lost
