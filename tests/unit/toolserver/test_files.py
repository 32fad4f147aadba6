from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import files
import pytest

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


def test_small_work_is_quick(box: BoxedFiles) -> None:
    """What takes milliseconds needs no process of its own."""
    box.put("a.txt", "x")
    config = config_for(box)

    for kind in ("read", "edit", "ls"):
        assert files.is_quick({"kind": kind, "path": "a.txt"}, config), kind
    assert files.is_quick({"kind": "write", "path": "new.txt", "content": "x"}, config)
    assert files.is_quick({"kind": "read", "path": "missing/../x"}, config)


def test_work_of_unknown_length_is_not_quick(box: BoxedFiles) -> None:
    """Searches, large content and pictures run in a worker."""
    box.put("big", b"x" * 100_000)
    box.put("picture", b"\x89PNG\r\n\x1a\n")
    config = config_for(box)

    assert not files.is_quick({"kind": "grep", "path": "."}, config)
    assert not files.is_quick({"kind": "find", "path": "."}, config)
    assert not files.is_quick({"kind": "read", "path": "big"}, config)
    assert not files.is_quick({"kind": "read", "path": "picture"}, config)
    assert not files.is_quick({"kind": "write", "path": "a", "content": "x" * 100_000}, config)


def test_pipe_is_found_quick_without_opening_it(box: BoxedFiles) -> None:
    """Its refusal takes no time, and nothing waits for a writer."""
    os.mkfifo(box.workdir / "pipe")

    assert files.is_quick({"kind": "read", "path": "pipe"}, config_for(box))


def test_modules_need_the_standard_library_alone() -> None:
    """The image may hold nothing else; PIL is looked for when a picture comes."""
    folder = Path(files.__file__).parent
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import files; print('PIL' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, check=True, text=True
    )

    assert done.stdout == "False\n"
