"""What is taken out of a session before it is given away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.config.paths import Paths
from orchestrator.harness.keys import open_key_store
from orchestrator.redaction.redactor import Redactor


def redaction(paths: Paths, environ: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return what replaces secrets in JSON data: all that look like one, and keys that are known.

    Those are the environment's. A locked vault is not opened for it: what a session held of its
    keys was replaced when it was written.
    """
    return _redactor(paths, environ).redact_json


def text_redaction(paths: Paths, environ: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces the same secrets in a text."""
    return _redactor(paths, environ).redact


def _redactor(paths: Paths, environ: Mapping[str, str]) -> Redactor:
    values = sorted(open_key_store(paths, environ).known_values())
    known = {f"key-{number}": value for number, value in enumerate(values, 1)}
    return Redactor(known)
