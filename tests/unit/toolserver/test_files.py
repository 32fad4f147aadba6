from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import files
import pytest
from paths import NAME_BYTES, QUICK_BYTES, placed
from read import open_regular
from refusal import TakesLongError

from orchestrator.schema import request as requests
from tests.support.boxed_files import BoxedFiles


def config_for(box: BoxedFiles) -> SimpleNamespace:
    return SimpleNamespace(workdir=str(box.workdir), read_roots=(), spill_dir="/tmp/spill")


@pytest.mark.parametrize(
    "request_",
    [
        requests.WriteRequest("a.txt", "one\n"),
        requests.ReadRequest("a.txt"),
        requests.EditRequest("a.txt", (requests.Replacement("one", "two"),)),
        requests.GrepRequest("two", "."),
        requests.FindRequest("*", "."),
        requests.ListRequest("."),
    ],
)
def test_every_wire_form_is_understood(box: BoxedFiles, request_: requests.FileRequest) -> None:
    """What the host sends is what is taken here."""
    box.put("a.txt", "one\n")

    assert "data" in files.handle(requests.to_wire(request_), config_for(box))


def test_unknown_kind_is_refused(box: BoxedFiles) -> None:
    """A newer host learns that this box is older."""
    assert box.serve("delete", "a")["code"] == "invalid"


def test_malformed_request_is_answered(box: BoxedFiles) -> None:
    """The server outlives any request."""
    assert files.serve({"kind": "read"}, box.roots)["code"] == "failed"
    assert box.serve("read", "a", offset="x", limit=[])["code"] in {"failed", "not_found"}


def test_resolve_returns_the_landing(box: BoxedFiles) -> None:
    """The host judges this name."""
    box.put("real/a.txt", "x")
    (box.workdir / "link").symlink_to("real")
    config = config_for(box)

    assert files.resolve({"path": "link/a.txt"}, config) == f"{box.workdir}/real/a.txt"
    assert files.resolve({"path": "a\0b"}, config) == f"{box.workdir}/a\0b"


EDIT = {"kind": "edit", "path": "a.txt", "edits": [{"old": "x", "new": "y"}]}


def test_small_work_is_done_at_once(box: BoxedFiles) -> None:
    """What takes milliseconds needs no process of its own, and is answered as in one."""
    box.put("a.txt", "x")
    config = config_for(box)

    for request in (
        {"kind": "read", "path": "a.txt"},
        {"kind": "ls", "path": "."},
        EDIT,
        {"kind": "write", "path": "new.txt", "content": "x"},
        {"kind": "read", "path": "missing.txt"},
        {"kind": "read", "path": "missing/../x"},
        {"kind": "read", "path": "/etc/passwd"},
    ):
        answer = files.attempt(request, config)

        assert answer is not None, request
        assert ("error" in answer) == (request["path"] not in {"a.txt", ".", "new.txt"}), answer
    assert (box.workdir / "a.txt").read_text() == "y"
    assert (box.workdir / "new.txt").read_text() == "x"


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "grep", "pattern": "x", "path": "."},
        {"kind": "find", "pattern": "*", "path": "."},
        {"kind": "read", "path": "big"},
        {"kind": "read", "path": "picture"},
        {"kind": "ls", "path": "crowd"},
        {"kind": "read", "path": "crowd/missing"},
        {"kind": "write", "path": "a.txt", "content": "x" * 100_000},
        {"kind": "write", "path": "big", "content": "x"},
        {**EDIT, "path": "big"},
        {**EDIT, "edits": [{"old": "x", "new": "y" * 100_000}]},
        {**EDIT, "edits": [{"old": "x", "new": "y" * 60_000}], "replace_all": True},
    ],
    ids=lambda request: f"{request['kind']}-{request['path']}",
)
def test_work_of_unknown_length_is_left_whole(box: BoxedFiles, request_: dict[str, object]) -> None:
    """What may take longer is for a worker; whoever looked whether it may has done nothing yet."""
    box.put("big", b"x" * 100_000)
    box.put("picture", b"\x89PNG\r\n\x1a\n")
    box.put("a.txt", "xx")
    if "crowd" in str(request_["path"]):
        (box.workdir / "crowd").mkdir()
        for number in range(QUICK_BYTES // NAME_BYTES + 2):
            (box.workdir / "crowd" / f"{number}").touch()
    before = {path: path.read_bytes() for path in box.workdir.iterdir() if path.is_file()}

    assert files.attempt(request_, config_for(box)) is None

    left = {path: path.read_bytes() for path in box.workdir.iterdir() if path.is_file()}
    assert left == before


def test_growth_is_judged_by_what_was_opened(box: BoxedFiles) -> None:
    """Not by what had the name before: in between a command may put something larger there."""
    box.put("small", "x")
    box.put("big", b"x" * 100_000)
    roots = box.roots._replace(quick=True)

    with placed({"path": "small"}, roots, "read") as place:
        (box.workdir / "big").rename(box.workdir / "small")
        with pytest.raises(TakesLongError):
            open_regular(place, "small")


def test_pipe_is_refused_without_opening_it(box: BoxedFiles) -> None:
    """Its refusal takes no time, and nothing waits for a writer."""
    os.mkfifo(box.workdir / "pipe")
    answer = files.attempt({"kind": "read", "path": "pipe"}, config_for(box))

    assert answer is not None
    assert answer["code"] == "not_regular"


def test_modules_need_the_standard_library_alone() -> None:
    """The image may hold nothing else; PIL is looked for when a picture comes."""
    folder = Path(files.__file__).parent
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import files; print('PIL' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, check=True, text=True
    )

    assert done.stdout == "False\n"
