"""Which tool calls run now, for a person who is asked what one of them started. It decides nothing."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.schema.event import (
    Observer,
    ToolEnd,
    ToolStart,
)
from orchestrator.schema.event_base import Event

SHOWN = 300
"""Characters of a call's arguments."""


class RunningCalls:
    """An observer that passes everything on."""

    def __init__(self, observe: Observer) -> None:
        """Tell ``observe`` first."""
        self._observe = observe
        self._calls: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Take note of a call's beginning or end."""
        self._observe(event)
        if isinstance(event, ToolStart):
            self._calls[event.call] = f"{event.name} {_shown(event.arguments)}"[:SHOWN]
        elif isinstance(event, ToolEnd):
            self._calls.pop(event.call, None)

    @property
    def only(self) -> str:
        """The one call that runs; empty where none does, or several do."""
        return next(iter(self._calls)) if len(self._calls) == 1 else ""

    def lines(self) -> tuple[str, ...]:
        """Return a line for each running call, raw."""
        if not self._calls:
            return ("no call runs: a background process or a person's shell asked for it",)
        return tuple(f"while this runs: {words}" for words in self._calls.values())


def _shown(arguments: Any) -> str:
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return str(command) if command else json.dumps(arguments, ensure_ascii=False)
