"""Chains for tests: a fixed key, a clock that the test turns, chains in memory."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.audit.log import AuditLog, Clock
from orchestrator.audit.signer import Signer
from orchestrator.schema.ids import SessionId

SESSION = SessionId("0123456789ab")
GENESIS = {"policy_digest": "sha256:" + "1" * 64, "image_digest": "sha256:" + "2" * 64}


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Make the kernel refuse bytes beyond ``size`` in any file, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TurnedClock:
    """A clock that stands until it is turned."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def turn(self, seconds: float) -> None:
        self.seconds += seconds

    @property
    def clock(self) -> Clock:
        start = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
        return Clock(
            now=lambda: start + timedelta(seconds=self.seconds), monotonic=lambda: self.seconds
        )


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def signer() -> Signer:
    return Signer(bytes(range(32)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit" / f"{SESSION}.jsonl"


@pytest.fixture
def create(path: Path, signer: Signer, clock: TurnedClock) -> Callable[[], AuditLog]:
    """Begins the chain of a test."""
    return lambda: AuditLog.create(
        path, session=SESSION, genesis=GENESIS, signer=signer, clock=clock.clock
    )


@pytest.fixture
def resume(path: Path, signer: Signer, clock: TurnedClock) -> Callable[[], AuditLog]:
    """Takes the chain of a test up again."""
    return lambda: AuditLog.resume(path, session=SESSION, signer=signer, clock=clock.clock)
