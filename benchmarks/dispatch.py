"""What the corridor costs: one call through gate, audit and session, against the box's call alone.

Run: ``python benchmarks/dispatch.py``. The fsyncs (intent, outcome, two session entries) are shown
apart, because they are the disk's time and not ours.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from benchmarks.box_for_benchmarks import open_box
from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.assets import asset
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.judge import Asking, Judge
from orchestrator.dispatch.output import OutputFilter
from orchestrator.policy.evaluate import evaluate, evaluate_command
from orchestrator.policy.load import load_policy
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest
from orchestrator.tools.registry import builtin_tools
from orchestrator.tools.tool import ToolContext

CALLS = 200
GOAL_MS = 3.0


def _ignore(event: Event) -> None:
    """Show nothing."""


def _fsync_ms(folder: Path) -> float:
    """Return the median of one append and fsync of 600 bytes here, in ms."""
    fd = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    times = []
    for _ in range(50):
        started = time.perf_counter()
        os.write(fd, b"x" * 600)
        os.fsync(fd)
        times.append(time.perf_counter() - started)
    os.close(fd)
    return statistics.median(times) * 1000


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def main() -> None:
    """Measure interleaved, print one JSON object."""
    folder = Path(tempfile.mkdtemp(prefix="glovebox-bench-"))
    policy = load_policy(["default"], search=asset("policies"), user_file=None)
    audit = AuditLog.create(
        folder / "audit.jsonl",
        session=SessionId("0" * 12),
        genesis={},
        signer=Signer.load(folder / "keys"),
    )
    output = OutputFilter(Redactor({"key": "planted-value-1234567890"}))
    async with open_box() as box:
        judge = Judge(
            lambda request, tool: evaluate(policy, request, tool=tool),
            Asking(NobodyConfirmer(), timeout_s=1),
            audit,
            observe=_ignore,
            scrub=output.scrub,
        )
        tools = {tool.definition.name: tool for tool in builtin_tools()}
        dispatcher = Dispatcher(
            tools,
            box,
            judge,
            audit=audit,
            context=ToolContext("/workspace"),
            output=output,
            observe=_ignore,
            execs=Execs(
                lambda request: evaluate_command(policy, request),
                audit=audit,
                output=output,
                observe=_ignore,
                unexpected="report",
            ),
        )
        bare: list[float] = []
        whole: list[float] = []
        for number in range(CALLS):
            request = ExecRequest("true", "/workspace", 30.0)
            bare.append(await _timed(lambda request=request: box.execute(request)))
            call = ToolCall(CallId(f"c{number}"), "bash", '{"command":"true"}', {"command": "true"})
            whole.append(await _timed(lambda call=call: dispatcher.dispatch([call])))
    audit.close()
    fsync = _fsync_ms(folder)
    added = statistics.median(whole) - statistics.median(bare)
    result = {
        "box_call_ms": round(statistics.median(bare), 3),
        "dispatched_call_ms": round(statistics.median(whole), 3),
        "dispatch_adds_ms": round(added, 3),
        "one_fsync_ms": round(fsync, 3),
        "dispatch_adds_without_its_two_fsyncs_ms": round(added - 2 * fsync, 3),
        "dispatched_over_box_call": round(statistics.median(whole) / statistics.median(bare), 2),
        "goal_ms": GOAL_MS,
        "met": added <= GOAL_MS,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    anyio.run(main)
