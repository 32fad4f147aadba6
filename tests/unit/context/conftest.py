"""An open session file."""

import pytest

from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path):
    header = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as found:
        yield found
