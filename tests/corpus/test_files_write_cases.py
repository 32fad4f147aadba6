"""The corpus's write cases; each function's name begins with the case's id."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import docker
import pytest

from tests.support.boxed_files import TOOLSERVER, BoxedFiles, names_in

SWAPPER = """
import itertools, os, sys
os.chdir(sys.argv[1])
number = itertools.count()
def put(make):
    while True:
        try:
            return make()
        except OSError:  # the writer made the missing directory anew
            os.rename("dir", f"made-{next(number)}")
os.mkdir("dir")
print("ready", flush=True)
while True:
    os.rename("dir", "real")
    put(lambda: os.symlink(sys.argv[2], "dir"))
    os.unlink("dir")
    put(lambda: os.rename("real", "dir"))
"""

FULL_DISK = """
import json, sys
sys.path.insert(0, "/toolserver")
import files
from paths import Roots
roots = Roots("/ws", ("/ws",), ("/ws",))
def write(name, content):
    return files.serve({"kind": "write", "path": name, "content": content}, roots)
answers = [write("a.txt", "old"), write("a.txt", "n" * 600_000), write("b/c.txt", "n" * 600_000)]
edit = {"kind": "edit", "path": "a.txt", "edits": [{"old": "old", "new": "n" * 600_000}]}
answers.append(files.serve(edit, roots))
import os
print(json.dumps([[a.get("code") for a in answers], open("/ws/a.txt").read(), os.listdir("/ws")]))
"""


def test_files_write_01_link_that_leaves_is_refused(box: BoxedFiles) -> None:
    (box.workdir / "outbox").symlink_to(box.outside)

    assert box.refusal("write", "outbox/x.txt", content="x")[0] == "outside"
    assert names_in(box.outside) == []


def test_files_write_02_dangling_link_that_leaves_is_refused(box: BoxedFiles) -> None:
    (box.workdir / "new.txt").symlink_to(box.outside / "new.txt")

    assert box.refusal("write", "new.txt", content="x")[0] == "outside"
    assert names_in(box.outside) == []


def test_files_write_03_parents_are_made_only_inside(box: BoxedFiles) -> None:
    (box.workdir / "out").symlink_to(box.outside)

    box.data("write", "a/b/c.txt", content="x")

    assert (box.workdir / "a/b/c.txt").read_text() == "x"
    assert box.refusal("write", "out/b/c.txt", content="x")[0] == "outside"
    assert names_in(box.outside) == []


def test_files_write_04_swapped_directory_never_leads_outside(box: BoxedFiles) -> None:
    command = [sys.executable, "-I", "-S", "-c", SWAPPER, str(box.workdir), str(box.outside)]
    codes: Counter[str] = Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        try:
            # Until the race was real: the same path led inside and out.
            while codes.total() < 3000 or not codes["outside"] or not codes["written"]:
                codes[box.serve("write", "dir/x", content="x").get("code", "written")] += 1
                assert swapper.poll() is None
        finally:
            swapper.kill()

    assert names_in(box.outside) == []
    assert set(codes) <= {"written", "outside", "moved", "not_found"}


@pytest.mark.docker
def test_files_write_15_full_disk_keeps_the_old_content() -> None:
    output = docker.from_env().containers.run(
        "glovebox/sandbox:dev",
        ["/usr/bin/python3", "-I", "-S", "-B", "-c", FULL_DISK],
        entrypoint="",
        user="1000:1000",
        network_mode="none",
        tmpfs={"/ws": "size=256k,mode=1777"},
        volumes={str(TOOLSERVER): {"bind": "/toolserver", "mode": "ro"}},
        remove=True,
    )

    codes, content, names = json.loads(output)
    assert codes == [None, "no_space", "no_space", "no_space"]
    assert content == "old"
    assert "a.txt" in names
    assert not [name for name in names if name.startswith(".glovebox")]
