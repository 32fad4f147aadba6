"""A pool's files go when it is surely over, and not a moment before."""

import os
import time

import pytest

from orchestrator.engine.lease import Lease
from orchestrator.harness.pool.remains import STARTING_S, remove_remains

POOL = "0123456789abcdef"
SUFFIXES = ("lock", "log", "json", "sock")


def age(path):
    then = time.time() - 2 * STARTING_S
    os.utime(path, (then, then))


@pytest.fixture
def files(tmp_path):
    """What a pool leaves that was killed long ago, beside something that is not a pool's."""
    for suffix in SUFFIXES:
        path = tmp_path / f"{POOL}.{suffix}"
        path.touch()
        age(path)
    (tmp_path / "notes.txt").touch()
    age(tmp_path / "notes.txt")
    return tmp_path


def names(directory):
    return {path.name for path in directory.iterdir()}


def test_files_of_a_dead_pool_are_removed(files):
    """All of them, and nothing else."""
    assert remove_remains(files) == [POOL]
    assert names(files) == {"notes.txt"}
    assert remove_remains(files) == []


def test_files_of_a_pool_without_a_lock_file_are_removed(files):
    """It died before it had one."""
    (files / f"{POOL}.lock").unlink()

    assert remove_remains(files) == [POOL]
    assert names(files) == {"notes.txt"}


def test_living_pool_keeps_its_files(files):
    """Whoever holds the lock lives."""
    lock = Lease.take(files / f"{POOL}.lock")

    assert remove_remains(files) == []

    lock.close()
    assert len(names(files)) == len(SUFFIXES) + 1


def test_pool_that_may_just_be_starting_keeps_its_files(files):
    """Its order is written before its process has the lock."""
    (files / f"{POOL}.json").touch()

    assert remove_remains(files) == []
    assert len(names(files)) == len(SUFFIXES) + 1
