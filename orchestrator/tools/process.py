"""The tool for what outlives a call: servers, watchers, interpreters."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    Look,
    ProcessInput,
    ProcessLook,
    ProcessOutput,
    ProcessSignal,
    ProcessSignalName,
    ProcessStart,
    Request,
)
from orchestrator.schema.request import ProcessList as ListRequest
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.bash import limit_words
from orchestrator.tools.location import NonEmpty
from orchestrator.tools.plain import plain_content, plain_output
from orchestrator.tools.tool import ArgumentError, Rendered, ToolContext

MATCH_TIMEOUT_S = 30.0
"""Seconds for a pattern when the model names no number."""
SETTLE_S = 2.0
"""Seconds in which a start, an input or a signal should show what it did."""
QUIET_S = 0.3
"""Seconds without output after which what came is taken for the whole answer."""
MAX_PATTERN = 500


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as err:
        raise ValueError(f"not a regular expression: {err}") from err
    return text


class ProcessArguments(Arguments):
    """Fields of ``process``."""

    action: Literal["start", "list", "output", "input", "signal"]
    id: str = Field(default="", pattern=r"^[\w.-]{0,32}$")
    command: NonEmpty | None = None
    pty: bool = False
    text: str | None = None
    eof: bool = False
    signal: ProcessSignalName = "TERM"
    wait_for: Annotated[str, Field(max_length=MAX_PATTERN), AfterValidator(_pattern)] | None = None
    timeout: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    since: int | None = Field(default=None, ge=0, le=2**53)


class EndingAnswer(Answer):
    """Whether a process runs, and how it ended."""

    running: bool
    exit_code: int | None
    signal: int | None
    limit: Literal["memory", "pids", "disk", "files", "policy"] | None
    limit_note: str | None = None
    duration_ms: float


class ProcessAnswer(EndingAnswer):
    """What a process printed while it was looked at."""

    text: str
    start: int
    next: int
    lost: int
    skipped: int
    more: int
    unread: int
    why: Literal["match", "ended", "quiet", "time", "cancelled", "slow", "broken"]


class ListedProcess(EndingAnswer):
    """One process of a list."""

    handle: str
    command: str
    terminal: bool
    unseen: int


class ProcessListAnswer(Answer):
    """All processes that are known."""

    processes: list[ListedProcess]


class ProcessTool:
    """Starts processes, looks at them, types into them and signals them."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "process",
            "Servers, watchers, REPLs. Actions: start (command), output, input (text ending in "
            "\\n), signal (TERM, INT, KILL ...), list. Gives new output, after at most timeout s "
            "waiting for regex waitFor.",
            input_schema(ProcessArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return what the action would do."""
        fields = parse_arguments(ProcessArguments, "process", arguments)
        if fields.action == "list":
            return ListRequest()
        look = _look(fields, context)
        if fields.action == "start":
            if fields.command is None:
                raise _missing("command", "start")
            return ProcessStart(
                fields.command, context.workdir, fields.id, terminal=fields.pty, look=look
            )
        if not fields.id:
            raise _missing("id", fields.action)
        if fields.action == "input":
            if fields.text is None and not fields.eof:
                raise _missing("text", "input")
            return ProcessInput(fields.id, fields.text or "", fields.eof, look)
        if fields.action == "signal":
            return ProcessSignal(fields.id, fields.signal, look)
        return ProcessOutput(fields.id, look)

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return what it printed, and whether it runs."""
        if isinstance(request, ProcessLook):
            return render_answer(outcome, ProcessAnswer, lambda answer: _render(answer, request))
        return render_answer(outcome, ProcessListAnswer, _render_list)


def _missing(field: str, action: str) -> ArgumentError:
    return ArgumentError(
        f"process: wrong arguments, nothing was done\n- {field}: missing for {action}"
    )


def _look(fields: ProcessArguments, context: ToolContext) -> Look:
    quiet_s = None
    if fields.timeout is not None:
        wait_s = fields.timeout
    elif fields.wait_for is not None:
        wait_s = MATCH_TIMEOUT_S
    elif fields.action == "output":
        wait_s = 0.0
    else:
        wait_s, quiet_s = SETTLE_S, QUIET_S if fields.action != "signal" else None
    wait_s = min(wait_s, context.max_timeout_s)
    return Look(wait_s, quiet_s, fields.wait_for, fields.since)


def _render(answer: ProcessAnswer, request: ProcessLook) -> Rendered:
    parts = []
    if answer.lost:
        parts.append(f"[{answer.lost} bytes before this are not kept any more]")
    if answer.skipped:
        place = answer.start - answer.skipped
        parts.append(f"[{answer.skipped} bytes left out; since={place} shows them]")
    shown = plain_output(answer.text).rstrip("\n")
    parts.append(shown if shown.strip() else "(no new output)")
    if answer.more:
        parts.append(f"[{answer.more} more bytes; go on with since={answer.next}]")
    if isinstance(request, ProcessInput) and request.text and not request.text.endswith("\n"):
        parts.append("[the line was not ended with \\n]")
    if answer.unread:
        parts.append(f"[it has not read {answer.unread} bytes of its input]")
    handle = plain_content(request.handle)
    parts.append(f"[{handle} {_state(answer)}{_waited(answer, request.look)}]")
    details = {
        "handle": request.handle,
        **answer.model_dump(exclude={"text"}),
    }
    failed = isinstance(request, ProcessStart) and not answer.running and answer.exit_code != 0
    is_error = failed or answer.why in {"slow", "broken"}
    return Rendered("\n".join(parts), details, is_error=is_error)


def _state(answer: EndingAnswer) -> str:
    seconds = f"{answer.duration_ms / 1000:.1f} s"
    if answer.running:
        # The time also tells two looks at a silent process apart: waiting is no going in circles.
        return f"is running, {seconds} so far"
    if answer.limit is not None:
        words = limit_words(answer.limit, answer.limit_note)
        return f"was ended after {seconds}: {words}"
    if answer.signal is not None:
        names = {member.value: member.name for member in signal.Signals}
        return f"ended after {seconds} by {names.get(answer.signal, f'signal {answer.signal}')}"
    return f"ended after {seconds} with exit code {answer.exit_code}"


def _waited(answer: ProcessAnswer, look: Look) -> str:
    if answer.why == "slow":
        return "; waitFor takes too long to match this output, use a simpler one"
    if answer.why == "broken":
        return "; waitFor could not be matched"
    if answer.why == "cancelled":
        return "; waiting was cancelled"
    if look.pattern is None:
        return ""
    if answer.why == "match":
        return "; waitFor was found"
    return f"; waitFor was not found within {look.wait_s:g} s" if answer.running else ""


def _render_list(answer: ProcessListAnswer) -> Rendered:
    rows = [
        f"{plain_content(item.handle)}: {plain_content(item.command)}"
        f"{' (pty)' if item.terminal else ''}, {_state(item)}, {item.unseen} new bytes"
        for item in answer.processes
    ]
    details = {"processes": [item.model_dump() for item in answer.processes]}
    return Rendered("\n".join(rows) or "(no processes; action start begins one)", details)
