import subprocess
import sys

import nameless
import pytest
from census import Census

from tests.support.budgets import folder_on_disk

MIB = 1024**2

HEAD = """
import ctypes, mmap, os, socket, sys, threading, time
def nameless():
    file = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    os.write(file, bytes(2 << 20))
    return file
def ready():
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder():
    with folder_on_disk() as folder:
        yield folder


@pytest.fixture
def look(folder, tmp_path):
    """Count what a process keeps, which runs this script."""

    def look(script):
        process = subprocess.Popen(
            [sys.executable, "-c", HEAD + script], cwd=folder, stdout=subprocess.PIPE
        )
        try:
            assert process.stdout.readline() == b"ready\n"
            (tmp_path / str(process.pid)).symlink_to(f"/proc/{process.pid}")
            (tmp_path / "net").mkdir()
            (tmp_path / "net" / "unix").write_text("Num RefCount ...\n")
            census = Census(0, set())
            nameless.count(census, {folder.stat().st_dev}, proc=str(tmp_path))
            return census.answer()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    return look


@pytest.mark.parametrize(
    "script",
    [
        "kept = nameless(); ready()",
        "kept = nameless(); again = os.dup(kept); ready()",
        "os.dup2(nameless(), 900); os.close(3); ready()",
    ],
    ids=["plain", "twice", "high"],
)
def test_open_deleted_file_is_counted_once(look, script):
    """A file without a name fills the disk as well as any."""
    answer = look(script)

    assert answer["size"] == 2 * MIB
    assert answer["unsure"] == []


def test_deleted_program_that_runs_is_counted(look):
    """It keeps its file, however little of it is mapped."""
    answer = look(
        """
import shutil
shutil.copy("/bin/sh", "program")
with open("program", "ab") as file:
    file.write(bytes(2 << 20))
os.execv("program", ["sh", "-c", "rm program; echo ready; sleep 60; :"])
"""
    )

    assert answer["size"] >= 2 * MIB


def test_process_whose_first_thread_ended_is_looked_into(look):
    """It shows as a zombie without files; its threads have them."""
    answer = look(
        """
kept = nameless()
threading.Thread(target=ready).start()
ctypes.CDLL(None).pthread_exit(None)
"""
    )

    assert answer["size"] == 2 * MIB


def test_deleted_mapping_leaves_doubt(look):
    """The kernel does not say how large the file is."""
    answer = look(
        """
libc = ctypes.CDLL(None); file = nameless()
libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, 0); os.close(file); ready()
"""
    )

    assert answer["unsure"][0].startswith("a deleted file mapped by process ")


def test_mapped_memory_leaves_no_doubt(look):
    """Shared memory shows as deleted files as well, and takes no disk."""
    answer = look(
        """
shared = mmap.mmap(-1, 4096); memory = os.memfd_create("m"); os.ftruncate(memory, 4096)
mapped = mmap.mmap(memory, 4096); ready()
"""
    )

    assert answer["unsure"] == []


@pytest.mark.parametrize(
    ("script", "sure"),
    [
        ("a, b = socket.socketpair(); a.send(b'x'); ready()", True),
        ("a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [nameless()]); ready()", False),
    ],
    ids=["data", "descriptor"],
)
def test_descriptor_under_way_leaves_doubt(look, script, sure):
    """What lies in a socket is in no table of files; plain data is no matter."""
    answer = look(script)

    assert (answer["unsure"] == []) is sure


def test_connection_that_nobody_accepted_leaves_doubt(tmp_path):
    """What was sent over it belongs to no process yet; the kernel lists it without an inode."""
    (tmp_path / "net").mkdir()
    line = "ffff: 00000002 00000000 00000000 0001 02 {inode} /x\n"

    def unsure(inode):
        (tmp_path / "net" / "unix").write_text("Num ...\n" + line.format(inode=inode))
        census = Census(0, set())
        nameless.count(census, set(), proc=str(tmp_path))
        return census.answer()["unsure"]

    assert unsure(77) == []
    assert unsure(0) == ["a Unix socket with a waiting connection"]
