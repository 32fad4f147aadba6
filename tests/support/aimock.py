"""An independent mock of all three APIs (@copilotkit/aimock, MIT), run from a cached install."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

PACKAGE = "@copilotkit/aimock"
VERSION = "1.43.0"
FIXTURES = Path(__file__).parent.parent / "cases" / "aimock-fixtures.json"
START_S = 30.0


def install() -> Path:
    """Return the program, installing it once a user and version; skips where there is no npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the independent mock needs Node: npm is not on the PATH")
    folder = Path(tempfile.gettempdir()) / f"glovebox-test-aimock-{VERSION}-{os.getuid()}"
    program = folder / "node_modules" / ".bin" / "llmock"
    if not program.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        order = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(
            [*order, "--prefix", str(folder), f"{PACKAGE}@{VERSION}"],
            check=True,
            capture_output=True,
            timeout=100,
        )
    return program


@contextmanager
def aimock(key: str, *, fixtures: Path = FIXTURES) -> Iterator[str]:
    """Run the mock, which takes one key alone and says what ``fixtures`` say; give its address."""
    program = install()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = {"PATH": os.environ["PATH"], "AIMOCK_API_KEYS": key}
    order = [str(program), "-p", str(port), "-f", str(fixtures), "--validate-on-load"]
    process = subprocess.Popen(
        order, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _await_answer(process, address)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _await_answer(process: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"aimock ended with {process.returncode}")
        try:
            httpx.get(f"{address}/health", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("aimock did not answer")


def journal(address: str, key: str) -> list[dict[str, Any]]:
    """Return what the mock was asked."""
    headers = {"authorization": f"Bearer {key}"}
    found = httpx.get(f"{address}/__aimock/journal", headers=headers, trust_env=False).json()
    entries: list[dict[str, Any]] = found if isinstance(found, list) else found["entries"]
    return entries
