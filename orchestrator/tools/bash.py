"""The tool that runs a command."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty
from orchestrator.tools.plain import plain_content, plain_output
from orchestrator.tools.tool import Rendered, ToolContext

DEFAULT_TIMEOUT_S = 120.0
"""Seconds a command may run when the model names no number."""

LIMITS = {
    "memory": "the memory limit of the box was reached",
    "pids": "the process limit of the box was reached",
    "disk": "the disk budget of the box was used up",
    "files": "too many files were made or changed to be read back",
    "policy": "it started a program that policy does not allow unasked",
    "output": "it printed more than one command may",
}


class BashArguments(Arguments):
    """Fields of ``bash``."""

    command: NonEmpty
    timeout: float = Field(
        default=DEFAULT_TIMEOUT_S, gt=0, allow_inf_nan=False, description="seconds"
    )


class ExecAnswer(Answer):
    """How a command ended and what it printed."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    head: str
    tail: str
    total_bytes: int
    total_lines: int
    spill: str | None
    duration_ms: float
    limit: Literal["memory", "pids", "disk", "files", "output", "policy"] | None
    limit_note: str | None = None
    full: str | None = None
    """Why it could write to no file."""

    @property
    def failed(self) -> bool:
        """True unless the command ran to its end and said it succeeded."""
        stopped = self.timed_out or self.cancelled or self.limit is not None
        return stopped or self.exit_code != 0


class BashTool:
    """Runs one command line."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "bash",
            "Run a command in a new bash shell, in the workspace, without stdin. Gives stdout and "
            "stderr together and the exit code when it is not 0. Of long output the middle is "
            f"left out; a file keeps it all. Default timeout {DEFAULT_TIMEOUT_S:g} s.",
            input_schema(BashArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the command; a longer time than policy allows is brought down to it."""
        fields = parse_arguments(BashArguments, "bash", arguments)
        timeout_s = min(fields.timeout, context.max_timeout_s)
        return ExecRequest(fields.command, context.workdir, timeout_s)

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return the output and how the command ended."""
        timeout_s = request.timeout_s if isinstance(request, ExecRequest) else 0.0
        return render_answer(outcome, ExecAnswer, lambda answer: _render(answer, timeout_s))


def _render(answer: ExecAnswer, timeout_s: float) -> Rendered:
    head, tail = plain_output(answer.head), plain_output(answer.tail)
    cut = bool(answer.tail) or answer.spill is not None
    parts = [_joined(answer, head, tail) if cut else head.rstrip("\n")]
    if not parts[0].strip():
        parts = ["(no output)"]
    if cut:
        parts.append(_cut_notice(answer, shown=(_count_lines(head), _count_lines(tail))))
    parts += _ending(answer, timeout_s)
    if answer.full is not None and answer.limit is None:
        parts.append(f"[when this began: {plain_content(answer.full)}]")
    details = {
        "exit_code": answer.exit_code,
        "signal": answer.signal,
        "timed_out": answer.timed_out,
        "cancelled": answer.cancelled,
        "limit": answer.limit,
        "limit_note": answer.limit_note,
        "full": answer.full,
        "duration_ms": answer.duration_ms,
        "truncated": cut,
        "total_bytes": answer.total_bytes,
        "total_lines": answer.total_lines,
        "spill": answer.spill,
    }
    return Rendered("\n".join(parts), details, is_error=answer.failed)


def _joined(answer: ExecAnswer, head: str, tail: str) -> str:
    left_out = answer.total_bytes - len(answer.head.encode()) - len(answer.tail.encode())
    gap = f"[... {max(0, left_out)} bytes left out ...]"
    return "\n".join([head.rstrip("\n"), gap, tail.rstrip("\n")])


def _cut_notice(answer: ExecAnswer, *, shown: tuple[int, int]) -> str:
    notice = (
        f"[output cut: first {shown[0]} and last {shown[1]} of {answer.total_lines} lines, "
        f"{answer.total_bytes} bytes"
    )
    if answer.spill is None:
        return f"{notice}; the full text was not kept, run it again into a file to see it]"
    return f"{notice}; full output: read path={plain_output(answer.spill)} offset={shown[0] + 1}]"


def _ending(answer: ExecAnswer, timeout_s: float) -> list[str]:
    if answer.cancelled:
        return ["[cancelled]"]
    if answer.timed_out:
        return [f"[timed out after {timeout_s:g} s and was ended]"]
    if answer.limit is not None:
        return [f"[ended: {limit_words(answer.limit, answer.limit_note)}]"]
    if answer.signal is not None:
        return [f"[killed by signal {answer.signal}{_signal_name(answer.signal)}]"]
    return [f"[exit code {answer.exit_code}]"] if answer.exit_code else []


def limit_words(limit: str, note: str | None) -> str:
    """Return which limit ended it, and what the box says of it: names there are anybody's."""
    return LIMITS[limit] + (f": {plain_content(note)}" if note else "")


def _signal_name(number: int) -> str:
    known = {member.value: member.name for member in signal.Signals}
    return f" {known[number]}" if number in known else ""


def _count_lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
