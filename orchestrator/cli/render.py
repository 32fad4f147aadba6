"""Events for people (stderr) and for machines (stdout lines).

Untrusted text is escaped, and every line of tool output stands behind a gutter, so that it cannot
pass for a question or for the program's own words.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from orchestrator.cli.head_lines import GO_ON, OVER, head_lines
from orchestrator.confirmation.question_text import FRAME
from orchestrator.harness.options import NO_MODEL
from orchestrator.model.projection import valid
from orchestrator.schema.event import (
    DecisionMade,
    Egress,
    ErrorRaised,
    LimitReached,
    MessageDelta,
    MessageEnd,
    ModelCallInBox,
    Retry,
    SessionStart,
    ToolEnd,
    ToolStart,
    UnexpectedExec,
    encode_event,
)
from orchestrator.schema.event_base import Event
from orchestrator.schema.terminal_text import escape_terminal, wrap_cells

GUTTER = "  │ "
SHOWN_LINES = 12
"""Lines of a call's output that progress shows; the model and the session have all of it."""
SHOWN_WORDS = 300
"""Characters of an unexpected program and its arguments."""
WIDE = 200
"""Columns where there is no screen to ask, and the most that a line of output is given."""
MIN_WIDTH = 20

_RAW = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What JSON leaves as it is and a terminal or a line reader acts on."""

Write = Callable[[str], None]


class JsonLines:
    """Prints each event as one JSON object on one line."""

    def __init__(self, write: Write, session: str) -> None:
        """``write`` gets whole lines."""
        self._write = write
        self._session = session
        self._seq = 0

    def __call__(self, event: Event) -> None:
        """Print one event."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        data = encode_event(event, seq=self._seq, time=now, session=self._session)
        self._seq += 1
        line = json.dumps(_plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._write(_RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n")


class Progress:
    """Tells a person what happens, one event at a time."""

    def __init__(
        self, write: Write, *, colour: bool, columns: Callable[[], int] = lambda: WIDE
    ) -> None:
        """``write`` gets safe text; ``columns`` tells how wide the screen is now."""
        self._write = write
        self._colour = colour
        self._columns = columns
        self._streaming = False

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case MessageDelta(kind="text"):
                self._stream(event.text)
            case MessageEnd():
                self._break()
            case SessionStart():
                self._begin(event)
            case ToolStart():
                self._line("bold", f"● {event.name} {_arguments_line(event)}")
            case DecisionMade() if event.effect != "allow":
                answered = f", answered by {event.answered_by}" if event.answered_by else ""
                self._line(
                    "yellow", f"  policy: {event.effect} ({event.rule}{answered}): {event.reason}"
                )
            case ToolEnd() if event.name != "wrap":
                self._output(event)
            case ErrorRaised():
                self._line("red", f"{event.where}: {event.message}")
                if event.hint:
                    self._line("red", f"  {event.hint}")
            case _ if line := _warning_line(event):
                self._line("yellow", line)
            case _:
                for line in head_lines(event):
                    self._line("yellow", line)

    def settle(self) -> None:
        """End the line that is being said: nothing of it comes any more."""
        self._break()

    def _begin(self, event: SessionStart) -> None:
        self._line("dim", _session_line(event))
        if gate := event.posture.get("facts", {}).get("gate"):
            self._line("yellow", f"  gate: {gate}")

    def _stream(self, text: str) -> None:
        self._streaming = True
        self._write(_safe(text, keep_newlines=True))

    def _break(self) -> None:
        if self._streaming:
            self._write("\n")
        self._streaming = False

    def _output(self, event: ToolEnd) -> None:
        lines = event.output.rstrip("\n").split("\n")
        width = max(min(self._columns(), WIDE) - len(GUTTER) - len("…"), MIN_WIDTH)
        for line in lines[:SHOWN_LINES]:
            # A line that the terminal wraps would go on without its gutter.
            first, *more = wrap_cells(_safe(line), width)
            self._line("red" if event.is_error else "dim", f"{GUTTER}{first}{'…' * bool(more)}")
        if len(lines) > SHOWN_LINES:
            self._line("dim", f"{GUTTER}… {len(lines) - SHOWN_LINES} more lines")

    def _line(self, style: str, text: str) -> None:
        """Write one line of its own, also amid what is being said."""
        self._break()
        codes = {"dim": "2", "bold": "1", "yellow": "33", "red": "31"}
        safe = _safe(text)
        self._write(f"\x1b[{codes[style]}m{safe}\x1b[0m\n" if self._colour else f"{safe}\n")


def _safe(text: str, *, keep_newlines: bool = False) -> str:
    """Return text that moves no cursor and holds no frame of a question."""
    return escape_terminal(text, keep_newlines=keep_newlines).replace(FRAME.strip(), "|")


def _plain(value: Any) -> Any:
    """Return event data as every JSON reader takes it: half characters marked, NaN a word."""
    if isinstance(value, str):
        return valid(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {valid(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _session_line(event: SessionStart) -> str:
    held = sum(1 for value in event.posture.get("controls", {}).values() if value)
    policy = event.policy.get("name", "")
    model = "" if event.model == NO_MODEL else f"{event.model} · "
    return f"box up · {model}policy {policy} · {held} controls proved"


def _warning_line(event: Event) -> str:
    """Return what a person should notice, in a line; empty for what they need not."""
    match event:
        case Egress() if event.effect == "deny":
            return _refused_line(event)
        case ModelCallInBox() if event.effect == "deny":
            asked = event.asked or event.path
            return f"  model: refused {asked[:SHOWN_WORDS]} ({event.rule}): {event.reason}"
        case UnexpectedExec():
            return _unexpected_line(event)
        case Retry():
            seconds = event.delay_ms / 1000
            return f"  retry {event.attempt} in {seconds:.1f} s: {event.reason}"
        case LimitReached():
            limit, way_on = f"{event.value:,.10g}{OVER[event.over]}", GO_ON.get(event.over, "")
            return f"limit reached: {event.kind} ({limit}){way_on}"
    return ""


def _refused_line(event: Egress) -> str:
    place = f"{event.scheme}://{event.host}:{event.port}{event.path}"
    what = f"look up {event.host}" if event.port == 0 else f"{event.method or 'connect'} {place}"
    if event.host.startswith("("):
        # No host's name: what was sent names none that can be read.
        what = "a request that cannot be read"
    return f"  network: refused {what[:SHOWN_WORDS]} ({event.rule}): {event.reason}"


def _unexpected_line(event: UnexpectedExec) -> str:
    shown = " ".join(event.argv) or event.path or "programs that cannot be read"
    ended = "; all that the call started was ended" if event.ended else ""
    return f"  unexpected: it started {shown[:SHOWN_WORDS]} ({event.reason}){ended}"


def _arguments_line(event: ToolStart) -> str:
    arguments: dict[str, Any] = dict(event.arguments or {})
    for name in ("command", "path", "pattern"):
        if name in arguments:
            return str(arguments[name])[:2000]
    return json.dumps(arguments, ensure_ascii=False)[:500]
