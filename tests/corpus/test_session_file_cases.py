"""The session-file cases of the corpus, played on real files: what was acknowledged survives, and
damage costs what it hit.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.sending import APIS, request_to

ROOT = Path(__file__).parents[2]
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


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "s" / "20260102T030405_0123456789ab.jsonl")


def say(store: SessionStore, text: str) -> str:
    return store.append("message", encode_message(UserMessage((Text(text),))))


def call_with(store: SessionStore, output: str) -> None:
    """Append a call and its result."""
    call = CallId("c1")
    asked = AssistantMessage((ToolCall(call, "bash", "{}", {}),), "tool_use")
    for message in (asked, ToolMessage((ToolResult(call, "bash", output),))):
        store.append("message", encode_message(message))


def outputs(store: SessionStore) -> list[str]:
    told = [message for message in store.messages() if isinstance(message, ToolMessage)]
    return [result.output for message in told for result in message.results]


def said(store: SessionStore) -> list[str]:
    told = [message for message in store.messages() if isinstance(message, UserMessage)]
    return [part.text for message in told for part in message.content if isinstance(part, Text)]


@pytest.mark.case("session-jsonl-01")
def test_line_separators_of_other_worlds_end_no_line(scene: Scene) -> None:
    output = "a\u2028b\u2029c\u0085d"
    scene.begin(0)
    with scene.resume() as store:
        call_with(store, output)
    assert len(scene.lines()) == 4
    assert output.encode() in scene.lines()[2]
    with scene.resume() as store:
        assert len(store.tree.entries) == 2
        assert outputs(store) == [output]


@pytest.mark.case("session-jsonl-03")
def test_file_with_crlf_endings_has_the_same_entries(scene: Scene) -> None:
    scene.begin()
    with scene.resume() as store:
        before = store.tree.entries
    scene.rewrite(b"\r\n".join(scene.lines()))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert store.tree.entries == before
        assert store.warnings == []


@pytest.mark.case("session-jsonl-04")
def test_end_cut_inside_a_string_costs_itself(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes()[:-20])
    with scene.resume() as store:
        assert said(store) == ["m0", "m1"]
        assert any("torn" in warning for warning in store.warnings)
        say(store, "new")
    assert all(json.loads(line) for line in scene.lines()[:-1])
    assert len(list(scene.path.parent.glob("*.torn-*"))) == 1


@pytest.mark.case("session-jsonl-05")
def test_whole_end_without_line_feed_counts(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes()[:-1])
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        say(store, "new")
    assert all(json.loads(line) for line in scene.lines()[:-1])
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]


@pytest.mark.case("session-jsonl-06")
def test_what_is_said_after_a_torn_end_survives(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes() + b'{"type":"message","id":"x')
    with scene.resume() as store:
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]
        assert store.warnings == []


@pytest.mark.case("session-jsonl-07")
def test_torn_line_before_an_empty_one_is_a_torn_end(scene: Scene) -> None:
    scene.begin()
    scene.rewrite(scene.path.read_bytes() + b'{"type":"message","id":"x\n\n')
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert store.warnings
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "new"]


@pytest.mark.case("session-jsonl-09")
def test_damaged_line_among_thousands_costs_itself_and_is_named(scene: Scene) -> None:
    scene.begin(7000)
    lines = scene.lines()
    lines[39] = b"\x07" + lines[39][1:]
    scene.rewrite(b"\n".join(lines))
    with scene.resume() as store:
        assert len(store.tree.entries) == 6999
        assert said(store)[-1] == "m6999"
        assert len(said(store)) == 6999
        assert any(warning.startswith("line 40:") for warning in store.warnings)


@pytest.mark.case("session-jsonl-10")
def test_run_of_nul_bytes_is_skipped_and_later_entries_keep_their_place(scene: Scene) -> None:
    scene.begin()
    lines = scene.lines()
    scene.rewrite(b"\n".join([*lines[:2], b"\0" * 300 + lines[2], *lines[3:]]))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert any("300 empty bytes" in warning for warning in store.warnings)
        first, second, third = store.tree.path()
        assert (second.parent, third.parent) == (first.id, second.id)


@pytest.mark.case("session-jsonl-11")
def test_two_objects_on_one_line_are_two_entries(scene: Scene) -> None:
    scene.begin()
    lines = scene.lines()
    scene.rewrite(b"\n".join([lines[0], lines[1] + lines[2], *lines[3:]]))
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]


@pytest.mark.case("session-jsonl-16")
def test_empty_file_is_a_new_session_and_says_so(scene: Scene) -> None:
    scene.path.parent.mkdir(parents=True)
    scene.rewrite(b"")
    with scene.resume() as store:
        assert any("anew" in warning for warning in store.warnings)
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["new"]


@pytest.mark.case("session-jsonl-18")
def test_second_process_is_refused_and_told_who_holds_the_session(scene: Scene) -> None:
    scene.begin()
    with scene.hold() as other:
        with pytest.raises(SessionBusy, match=rf"process {other.pid}\b"):
            scene.resume()
        assert other.stdin is not None
        other.stdin.close()
    assert all(json.loads(line) for line in scene.lines()[:-1])
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]


@pytest.mark.case("session-jsonl-19")
def test_lock_of_a_killed_process_is_taken_over(scene: Scene) -> None:
    scene.begin()
    with scene.hold() as other:
        os.kill(other.pid, signal.SIGKILL)
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2"]
        assert any(str(other.pid) in warning for warning in store.warnings)


@pytest.mark.case("session-jsonl-22")
def test_nothing_is_lost_by_a_full_disk(scene: Scene) -> None:
    scene.begin()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with scene.resume() as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (scene.path.stat().st_size + 7, hard))
        try:
            for text in ("kept", "kept too"):
                with pytest.raises(SessionError):
                    say(store, text)
            with pytest.raises(SessionError):
                store.sync()
            assert said(store) == ["m0", "m1", "m2", "kept", "kept too"]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        say(store, "new")
    with scene.resume() as store:
        assert said(store) == ["m0", "m1", "m2", "kept", "kept too", "new"]
        assert store.warnings == []


@pytest.mark.case("session-jsonl-24")
def test_order_survives_a_clock_that_jumps_back(scene: Scene) -> None:
    begin = datetime(2026, 1, 2, 12, tzinfo=UTC)
    hours = iter([0, -1, 0])
    with SessionStore.create(
        scene.path, HEADER, now=lambda: begin + timedelta(hours=next(hours))
    ) as store:
        for text in ("a", "b", "c"):
            say(store, text)
    with scene.resume() as store:
        assert said(store) == ["a", "b", "c"]
        times = [entry.time for entry in store.tree.entries]
        assert times[1] < times[0]


@pytest.mark.case("session-jsonl-25")
def test_entries_of_one_instant_have_ids_and_order(scene: Scene) -> None:
    begin = datetime(2026, 1, 2, 12, tzinfo=UTC)
    with SessionStore.create(scene.path, HEADER, now=lambda: begin) as store:
        ids = [say(store, str(at)) for at in range(100)]
    with scene.resume() as store:
        assert [entry.id for entry in store.tree.entries] == ids
        assert len(set(ids)) == 100


@pytest.mark.case("session-jsonl-27")
def test_half_an_emoji_is_visible_and_valid_in_file_and_request(scene: Scene) -> None:
    scene.begin(0)
    with scene.resume() as store:
        say(store, "cut \ud83d")
        call_with(store, "so \udc4d")
        assert said(store)[0] == "cut \ufffd"
    scene.path.read_bytes().decode("utf-8")
    with scene.resume() as store:
        for api in APIS:
            body = request_to(api, store.messages())
            sent = json.dumps(body, ensure_ascii=False).encode().decode()
            assert "cut \ufffd" in sent
            assert "so \ufffd" in sent
