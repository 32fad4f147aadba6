"""Every session-file case of the corpus, played on a real file.

The corpus tells situations in words; each has its scene here, and a case without one fails.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Message, Text, UserMessage
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore

ROOT = Path(__file__).parents[2]
CASES: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / "tests" / "cases" / "session.yaml").read_text()
)
HEADER = SessionHeader(SessionId("0123456789ab"), "/p", "2026-01-02T03:04:05Z")
HOLD = """
import sys
from pathlib import Path
from orchestrator.sessions.store import SessionStore
store = SessionStore.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@dataclass
class Scene:
    """A session of ``count`` messages, closed, whose file a case may damage."""

    path: Path

    def begin(self, count: int = 3) -> None:
        with SessionStore.create(self.path, HEADER) as store:
            for at in range(count):
                say(store, f"m{at}")

    def lines(self) -> list[bytes]:
        return self.path.read_bytes().split(b"\n")

    def rewrite(self, data: bytes) -> None:
        self.path.write_bytes(data)

    def resume(self) -> SessionStore:
        return SessionStore.open(self.path)

    def hold(self) -> subprocess.Popen[str]:
        """Start another process that has the session open."""
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        return process


def say(store: SessionStore, text: str) -> str:
    return store.append("message", encode_message(UserMessage((Text(text),))))


def said(store: SessionStore) -> list[str]:
    return [text_of(message) for message in store.messages()]


def text_of(message: Message) -> str:
    assert isinstance(message, UserMessage)
    return "".join(part.text for part in message.content if isinstance(part, Text))


def separators(scene: Scene) -> None:
    scene.begin(0)
    with scene.resume() as store:
        say(store, "a\u2028b\u2029c\u0085d")
    assert len(scene.lines()) == 3
    with scene.resume() as store:
        assert said(store) == ["a\u2028b\u2029c\u0085d"]


def crlf(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(b"\r\n".join(scene.lines()))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert "\r" not in store.header.cwd
        assert store.warnings == []


def torn_string(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes()[:-20])
    with scene.resume() as store:
        assert said(store) == ["m0", "m1"]
        assert any("torn" in warning for warning in store.warnings)
        say(store, "new")
    assert all(line.endswith(b"}") for line in scene.lines()[:-1])


def no_line_feed(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes()[:-1])
    with scene.resume() as store:
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]


def torn_twice(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes() + b'{"type":"message","id":"x')
    with scene.resume() as store:
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]
        assert store.warnings == []


def torn_then_empty(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes() + b'{"type":"message","id":"x\n\n')
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert store.warnings
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]


def damaged_line(scene: Scene) -> None:
    scene.begin(7000)
    lines = scene.lines()
    lines[39] = b"\x07" + lines[39][1:]
    scene.rewrite(b"\n".join(lines))
    with scene.resume() as store:
        assert len(store.tree.entries) == 6999
        assert said(store)[-1] == "m6999"
        assert len(said(store)) == 6999
        assert any(warning.startswith("line 40:") for warning in store.warnings)


def nul_run(scene: Scene) -> None:
    scene.begin()
    lines = scene.lines()
    scene.rewrite(b"\n".join([*lines[:2], b"\0" * 300 + lines[2], *lines[3:]]))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert store.warnings


def glued(scene: Scene) -> None:
    scene.begin()
    lines = scene.lines()
    scene.rewrite(b"\n".join([lines[0], lines[1] + lines[2], *lines[3:]]))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]


def empty(scene: Scene) -> None:
    scene.path.parent.mkdir(parents=True)
    scene.rewrite(b"")
    with scene.resume() as store:
        assert any("anew" in warning for warning in store.warnings)
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["new"]


def two_processes(scene: Scene) -> None:
    scene.begin()
    with scene.hold() as other:
        with pytest.raises(SessionBusy, match=rf"process {other.pid}\b"):
            scene.resume()
        assert other.stdin is not None
        other.stdin.close()
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]


def killed_holder(scene: Scene) -> None:
    scene.begin()
    with scene.hold() as other:
        os.kill(other.pid, signal.SIGKILL)
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert any(str(other.pid) in warning for warning in store.warnings)


def full_disk(scene: Scene) -> None:
    scene.begin()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with scene.resume() as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (scene.path.stat().st_size + 7, hard))
        try:
            with pytest.raises(SessionError):
                say(store, "kept")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "kept", "new"]


def clock_back(scene: Scene) -> None:
    begin = datetime(2026, 1, 2, 12, tzinfo=UTC)
    hours = iter([0, -1, 0])
    with SessionStore.create(
        scene.path, HEADER, now=lambda: begin + timedelta(hours=next(hours))
    ) as store:
        for text in ("a", "b", "c"):
            say(store, text)
    with scene.resume() as store:
        assert said(store) == ["a", "b", "c"]


def same_instant(scene: Scene) -> None:
    begin = datetime(2026, 1, 2, 12, tzinfo=UTC)
    with SessionStore.create(scene.path, HEADER, now=lambda: begin) as store:
        ids = [say(store, str(at)) for at in range(100)]
    with scene.resume() as store:
        assert [entry.id for entry in store.tree.entries] == ids
        assert len(set(ids)) == 100


def half_emoji(scene: Scene) -> None:
    scene.begin(0)
    with scene.resume() as store:
        say(store, "cut \ud83d")
        assert said(store) == ["cut \ufffd"]
    scene.path.read_bytes().decode("utf-8")
    with scene.resume() as store:
        assert said(store) == ["cut \ufffd"]


SCENES: dict[str, Callable[[Scene], None]] = {
    "01": separators,
    "03": crlf,
    "04": torn_string,
    "05": no_line_feed,
    "06": torn_twice,
    "07": torn_then_empty,
    "09": damaged_line,
    "10": nul_run,
    "11": glued,
    "16": empty,
    "18": two_processes,
    "19": killed_holder,
    "22": full_disk,
    "24": clock_back,
    "25": same_instant,
    "27": half_emoji,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_session_case_holds(case: dict[str, Any], tmp_path: Path) -> None:
    """What was acknowledged survives, and damage costs what it hit."""
    match = re.fullmatch(r"session-jsonl-(\d+)", case["id"])
    assert match is not None

    SCENES[match[1]](Scene(tmp_path / "s" / "20260102T030405_0123456789ab.jsonl"))
