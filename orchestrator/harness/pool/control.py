"""Looking at pools and ending them, from outside. Everything blocks for a moment."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from orchestrator.engine.labels import is_locked
from orchestrator.errors import BoxError
from orchestrator.harness.pool.channel import ask, socket_path
from orchestrator.harness.pool.spawn import is_running, log_path

LOOK_S = 0.05
END_S = 60.0
"""A pool waits until the engine has removed its boxes."""


def pools(directory: Path) -> list[dict[str, Any]]:
    """Return the status of every pool that answers, by name."""
    found = (_status(path) for path in sorted(directory.glob("*.sock")))
    return [status for status in found if status is not None]


def end_pools(directory: Path, *, only: Path | None = None) -> list[dict[str, Any]]:
    """End the pools, or those of one project, and return what they were when they are gone."""
    ended = []
    for status in pools(directory):
        if only is not None and status["directory"] != str(only):
            continue
        ask(socket_path(directory, status["pool"]), {"do": "stop"})
        _wait_gone(directory / f"{status['pool']}.lock")
        ended.append(status)
    return ended


def wait_ready(directory: Path, pool: str, *, seconds: float) -> dict[str, Any]:
    """Return a pool's status once a box waits in it or none can be made.

    Raises BoxError with the pool's last words where it ended instead, and where it does not answer
    within ``seconds``.
    """
    began = time.monotonic()
    path = socket_path(directory, pool)
    while True:
        status = _status(path)
        waited = time.monotonic() - began
        if status is not None and (status["ready"] or status["trouble"] or waited > seconds):
            return status
        if status is None and not is_running(directory, pool):
            words = log_path(directory, pool)
            said = words.read_text("utf-8", "replace")[-2000:].strip() if words.exists() else ""
            raise BoxError(f"pool: it ended before a box was ready: {said or 'no word of why'}")
        if waited > seconds:
            raise BoxError(
                f"pool: it did not answer within {seconds:.0f} s",
                hint="`glovebox pool status` tells whether it does later",
            )
        time.sleep(LOOK_S)


def _status(path: Path) -> dict[str, Any] | None:
    try:
        got = ask(path, {"do": "status"})
        return dict(json.loads(got[0])) if got is not None else None
    except (OSError, ValueError, TypeError):
        # It ends in this moment.
        return None


def _wait_gone(lock: Path) -> None:
    deadline = time.monotonic() + END_S
    while is_locked(lock):
        if time.monotonic() > deadline:
            raise BoxError(f"pool: it did not end within {END_S:.0f} s", hint=f"see {lock}")
        time.sleep(LOOK_S)
