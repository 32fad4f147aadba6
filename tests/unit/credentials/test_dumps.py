"""In processes of their own, which end by a signal that makes the kernel dump them."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

PATTERN = Path("/proc/sys/kernel/core_pattern")
DIES = """
import os, resource, sys
_, most = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
key = "".join(reversed("yek-detnalp-" * 40))
from orchestrator.credentials.dumps import keep_out_of_dumps
if "kept" in sys.argv:
    keep_out_of_dumps()
if "child" in sys.argv:
    print(open("/proc/self/status").read().count("Name"), flush=True)
    os.execv(sys.executable, [sys.executable, "-c", "print(len(open('/proc/self/environ').read()))"])
os.abort()
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", DIES, *words], cwd=folder, capture_output=True, check=False
    )


def dumped(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.skipif(
    "/" in PATTERN.read_text() or PATTERN.read_text().startswith("|"),
    reason="this kernel puts core dumps elsewhere",
)
@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="core dumps are off here"
)
def test_key_is_in_no_dump_and_would_have_been(tmp_path: Path) -> None:
    for name in ("open", "kept"):
        (tmp_path / name).mkdir()
        run(tmp_path / name, name)

    assert b"planted-key-" * 39 in dumped(tmp_path / "open")
    assert list((tmp_path / "kept").iterdir()) == []


def test_programs_that_it_starts_are_as_ever(tmp_path: Path) -> None:
    ended = run(tmp_path, "kept", "child")

    assert ended.returncode == 0, ended.stderr
    assert [int(line) > 0 for line in ended.stdout.split()] == [True, True]
