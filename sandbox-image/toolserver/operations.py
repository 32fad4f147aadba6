"""File operations and the probe, loaded in a quiet moment: they are a third of the start's time."""

from __future__ import annotations

import importlib
from typing import Any

SOON = 0.2
"""Seconds after the start; a request that comes earlier loads them itself."""


def load() -> None:
    """Import both, so that no request has to wait for it."""
    importlib.import_module("files")
    importlib.import_module("probe")


def handle(request: dict[str, Any], config: Any) -> dict[str, Any]:
    """Answer a file request or the probe; see ``files.handle`` and ``probe.facts``."""
    if request.get("kind") == "probe":
        return {"data": importlib.import_module("probe").facts(request, config)}
    answer: dict[str, Any] = importlib.import_module("files").handle(request, config)
    return answer


def attempt(request: dict[str, Any], config: Any) -> dict[str, Any] | None:
    """Answer a request that is done in milliseconds; None, and nothing is done, for any other."""
    if request.get("kind") == "probe":
        return None
    answer: dict[str, Any] | None = importlib.import_module("files").attempt(request, config)
    return answer


def resolve(request: dict[str, Any], config: Any) -> str:
    """Return where a file request's path lands."""
    return str(importlib.import_module("files").resolve(request, config))
