"""What all sessions of this user took from models today: one small file, changed under a lock.

What a call may take is written before it leaves and put right afterwards, so that a process that
dies in between has used too much rather than nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import ConfigError
from orchestrator.named_file import opened_regular

_MAX_BYTES = 4096


def today() -> str:
    """Return the day in UTC, as the file has it."""
    return datetime.now(UTC).date().isoformat()


class DayUse(BaseModel):
    """The file's content."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: int = Field(default=1, ge=1, le=1)
    day: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    tokens: int = Field(default=0, ge=0)
    cost_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class DayLimits:
    """None: no limit."""

    tokens: int | None = None
    cost_usd: float | None = None


class DayLedger:
    """Counts over sessions; every method opens the file, takes its lock and lets it go."""

    def __init__(self, path: Path, *, day: Callable[[], str] = today) -> None:
        """Keep the count in ``path``, which is made with its folder when it is first needed."""
        self.path = path
        self._day = day

    def take(self, tokens: int, cost_usd: float, limits: DayLimits) -> tuple[str, DayUse | None]:
        """Count so much, unless that passes a limit: then return what is used.

        Returns the day it was counted to. ConfigError where the file does not hold.
        """
        with self._locked() as used:
            over = _over(used.tokens + tokens, limits.tokens) or _over(
                used.cost_usd + cost_usd, limits.cost_usd
            )
            if not over:
                self._write(_added(used, tokens, cost_usd))
            return used.day, used if over else None

    def correct(self, day: str, tokens: int, cost_usd: float) -> None:
        """Add to what was counted on a day, or take from it; nothing once that day is over."""
        with self._locked() as used:
            if used.day == day:
                self._write(_added(used, tokens, cost_usd))

    def used(self) -> DayUse:
        """Return what today's count is; the file is replaced as a whole, so no lock is needed."""
        return self._read()

    def is_ahead(self, used: DayUse) -> bool:
        """Say whether a count is of a day that has not begun: a clock was wrong, or is."""
        return used.day > self._day()

    @contextmanager
    def _locked(self) -> Iterator[DayUse]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._read()
        finally:
            os.close(lock)

    def _read(self) -> DayUse:
        day = self._day()
        try:
            with opened_regular(self.path) as file:
                raw = file.read(_MAX_BYTES)
            used = DayUse.model_validate_json(raw)
        except FileNotFoundError:
            return DayUse(day=day)
        except ValidationError as error:
            raise ConfigError(
                f"{self.path}: the count of today's model use is damaged",
                hint="what was used today is not known: move the file away to count from zero",
            ) from error
        # A clock that was set back must not open a new budget.
        return used if used.day >= day else DayUse(day=day)

    def _write(self, used: DayUse) -> None:
        beside = self.path.with_name(f"{self.path.name}.new")
        # Whatever a process that died has left there goes first: a pipe would be waited for.
        beside.unlink(missing_ok=True)
        fd = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(json.dumps(used.model_dump()).encode())
        beside.replace(self.path)


def _added(used: DayUse, tokens: int, cost_usd: float) -> DayUse:
    return DayUse(
        day=used.day,
        tokens=max(used.tokens + tokens, 0),
        cost_usd=max(used.cost_usd + cost_usd, 0.0),
    )


def _over(value: float, limit: float | None) -> bool:
    return limit is not None and value > limit
