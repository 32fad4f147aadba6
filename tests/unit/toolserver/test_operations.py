import subprocess
import sys

import operations

from tests.support.boxed_files import TOOLSERVER


def test_server_starts_without_what_it_does_not_need_yet():
    """Importing the server loads neither file operations nor the probe, nor heavy libraries."""
    source = (
        f"import sys; sys.path.insert(0, {str(TOOLSERVER)!r}); import server; "
        "print(sorted({'files', 'probe', 'traceback', 'subprocess', 'dataclasses'} & set(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", source]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_request_loads_what_it_needs(box):
    """A request that comes before the quiet moment is answered as any other."""
    box.put("a.txt", "x")
    places = type(
        "Places",
        (),
        {"workdir": str(box.workdir), "read_roots": (), "spill_dir": "/s", "home": "/h"},
    )
    request = {
        "kind": "read",
        "path": str(box.workdir / "a.txt"),
        "offset": 1,
        "limit": 9,
        "max_bytes": 99,
    }

    operations.load()

    assert operations.attempt(request, places) == operations.handle(request, places)
    assert operations.handle(request, places)["data"]["text"] == "x"
    assert operations.resolve(request, places) == str(box.workdir / "a.txt")


def test_probe_is_never_done_at_once():
    """It tries what must fail, and so it does that in a process of its own."""
    assert operations.attempt({"kind": "probe"}, None) is None
