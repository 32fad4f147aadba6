"""What was started in the background, as the host knows it; the box is never asked for it.

The gate reads an input together with the command that takes it and with what went in before, so
both are kept here, under the handle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.dispatch.output import BEGINNING, OutputFilter, Seam
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    ProcessInput,
    ProcessList,
    ProcessRequest,
    ProcessStart,
    Request,
)

UNKNOWN = "{}: there is no such process. {}"
INTERRUPTED = (
    "{}: its start was interrupted, so it is not known what reads this. End it with a signal and "
    "start it anew."
)


@dataclass(slots=True)
class _Started:
    request: ProcessStart | None
    """None where it is not known which of two commands runs."""
    typed: str = ""
    unread: bool = False
    pending: tuple[str, ...] = ()
    seam: Seam = BEGINNING


class Processes:
    """One session's."""

    def __init__(self, output: OutputFilter) -> None:
        """Keep secrets that are printed in two pieces out of both with ``output``."""
        self._output = output
        self._started: dict[str, _Started] = {}
        self._before: dict[str, _Started] = {}
        self._latest = 0

    def prepare(self, request: ProcessRequest) -> ProcessRequest | str:
        """Return the request with what the host knows of its process, or why it cannot be."""
        if isinstance(request, ProcessList):
            return request
        if isinstance(request, ProcessStart):
            return replace(request, handle=request.handle or self._new_handle())
        started = self._started.get(request.handle)
        if started is None:
            known = ", ".join(self._started)
            told = f"Started so far: {known}." if known else "None was started."
            return UNKNOWN.format(request.handle, told)
        if not isinstance(request, ProcessInput):
            return request
        if started.request is None:
            return INTERRUPTED.format(request.handle)
        text = request.text
        if started.request.terminal:
            # Enter sends a return, which programs take for a newline.
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return replace(
            request,
            text=text,
            command=started.request.command,
            cwd=started.request.cwd,
            terminal=started.request.terminal,
            typed=started.typed,
            unread=started.unread,
            pending=started.pending,
        )

    def begin(self, request: Request, *, opaque: bool) -> None:
        """Take note of what is about to happen; ``opaque`` where the gate could not read it."""
        if isinstance(request, ProcessStart):
            if request.handle in self._started:
                self._before[request.handle] = self._started[request.handle]
            self._started[request.handle] = _Started(None)
        elif isinstance(request, ProcessInput):
            started = self._started[request.handle]
            # Kept, what cannot be read would hide where a later risk is; so only that it was.
            started.typed, started.pending = _after(request, keep=not opaque)
            started.unread |= opaque

    def settle(self, request: Request, outcome: Outcome) -> Outcome:
        """Take note of what came of it, and return it without secrets in what was printed."""
        if isinstance(request, ProcessStart):
            before = self._before.pop(request.handle, None)
            if outcome.error is None:
                self._started[request.handle] = _Started(request)
            elif before is not None:
                self._started[request.handle] = before
            else:
                del self._started[request.handle]
        if outcome.error is not None or isinstance(request, ProcessList):
            return outcome
        handle = getattr(request, "handle", None)
        started = self._started.get(handle) if handle else None
        if started is None:
            return outcome
        text, started.seam = self._output.scrub_piece(outcome.data, started.seam)
        return replace(outcome, data={**outcome.data, "text": text})

    def _new_handle(self) -> str:
        while True:
            self._latest += 1
            if f"p{self._latest}" not in self._started:
                return f"p{self._latest}"


def _after(request: ProcessInput, *, keep: bool) -> tuple[str, tuple[str, ...]]:
    """Return the whole lines that went in so far, and the pieces of the line that has not ended."""
    if "\n" not in request.text:
        pieces = (*request.pending, request.text) if request.text else request.pending
        return request.typed, pieces
    lines, _, rest = ("".join(request.pending) + request.text).rpartition("\n")
    typed = f"{request.typed}{lines}\n" if keep else request.typed
    return typed, (rest,) if rest else ()
