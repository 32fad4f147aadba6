"""The child of ``-m local`` as its parent meets it: a line in, a line out, and the end of stdin."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.model import local
from orchestrator.model.local import weights_path

SCRIPT = Path(local.__file__).with_name("local_server.py")


def start() -> subprocess.Popen[str]:
    order = [sys.executable, "-P", str(SCRIPT)]
    pipe = subprocess.PIPE
    return subprocess.Popen(order, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def order(**change: Any) -> str:
    whole = {
        "weights": str(weights_path()),
        "template": "{{ messages[-1].content }}",
        "key": "sk-local-test",
        "name": "small",
        "context": 512,
        "output": 8,
        "threads": 1,
    }
    return json.dumps(whole | change) + "\n"


@pytest.mark.model
def test_server_says_where_it_is_and_ends_with_its_stdin() -> None:
    """One line on stdout, whatever the engine prints, and no process when the parent is gone."""
    with start() as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(order())
        child.stdin.flush()
        address = json.loads(child.stdout.readline())["address"]
        headers = {"authorization": "Bearer sk-local-test"}
        listed = httpx.get(f"{address}/v1/models", headers=headers, trust_env=False).json()
        assert listed["data"][0]["id"] == "small"
        child.stdin.close()
        assert child.wait(20) == 0
        assert child.stdout.read() == ""


@pytest.mark.model
def test_weights_that_are_not_there_end_it_without_an_address() -> None:
    """The parent sees the end and tells the reason."""
    with start() as child:
        out, _ = child.communicate(order(weights="/nonexistent.gguf"), timeout=60)
        assert out == ""
        assert child.returncode != 0


def test_stdin_that_ends_at_once_ends_it() -> None:
    """A parent that died before its order leaves nothing."""
    with start() as child:
        out, _ = child.communicate("", timeout=60)
        assert out == ""
        assert child.returncode != 0
