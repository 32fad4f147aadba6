"""Sessions for tests: a header, messages in short, files made of lines."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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
from orchestrator.sessions.entry import Entry, SessionHeader, encode_entry, encode_header
from orchestrator.sessions.store import SessionStore

HEADER = SessionHeader(SessionId("0123456789ab"), "/home/me/project", "2026-01-02T03:04:05Z")


def user(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def assistant(text: str = "", *calls: str) -> AssistantMessage:
    said = (Text(text),) if text else ()
    asked = tuple(ToolCall(CallId(call), "bash", "{}", {}) for call in calls)
    return AssistantMessage((*said, *asked), "tool_use" if calls else "end_turn")


def result(call: str, output: str = "ok") -> ToolResult:
    return ToolResult(CallId(call), "bash", output)


def tool(*results: ToolResult) -> ToolMessage:
    return ToolMessage(results)


def entry(entry_id: str, parent: str | None, **changes: Any) -> Entry:
    """Return a user message's entry, or what ``changes`` make of it."""
    fields: dict[str, Any] = {
        "type": "message",
        "time": "2026-01-02T03:04:05.000000Z",
        "body": encode_message(user(entry_id)),
        **changes,
    }
    return Entry(id=entry_id, parent=parent, **fields)  # type: ignore[arg-type]


def file_of(*entries: Entry, header: SessionHeader | None = HEADER) -> bytes:
    start = encode_header(header) if header else b""
    return start + b"".join(encode_entry(one) for one in entries)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Make the kernel refuse bytes beyond ``size`` in any file, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "project-1" / "20260102T030405_0123456789ab.jsonl"


@pytest.fixture
def create(path: Path) -> Callable[[], SessionStore]:
    """Begins the session of a test."""
    return lambda: SessionStore.create(path, HEADER)
