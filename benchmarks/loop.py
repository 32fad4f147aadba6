"""What the loop adds to a turn, and whether a long run makes it more: 2,000 turns, one call each.

``python -m benchmarks.loop [--quick]`` needs no engine. Session file, audit chain (both with their
fsyncs), context, dispatcher and redaction are the real ones; model and box are scripted and answer
at once: the model's time is taken off, the scripted box's own is counted. The reference is a bare
append and fsync of as many bytes for each fsync that the turn had, to one more file of the same
disk, right after the turn.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import tempfile
import time
import tracemalloc
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.assets import asset
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.work_clock import WorkClock
from orchestrator.context.session_context import SessionContext
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Summariser
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.judge import Asking, Judge
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.loop.agent_loop import AgentLoop
from orchestrator.loop.around import Around
from orchestrator.loop.limits import Limits
from orchestrator.loop.queue import PersonQueue
from orchestrator.model.client import Delta, ModelInfo, OnDelta, Prompt
from orchestrator.policy.evaluate import evaluate, evaluate_command
from orchestrator.policy.load import load_policy
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import AssistantMessage, Text, ToolCall, Usage, UserMessage
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from orchestrator.tools.registry import builtin_tools
from orchestrator.tools.tool import Tool, ToolContext

TURNS = 2_000
EDGE = 200
"""Turns at the beginning and at the end that are held against each other."""
WARM_UP = 20
"""Turns at the very beginning that pay for imports and caches, and count to neither."""
GOAL_MS = 5.0
SESSION = SessionId("0123456789ab")
WINDOW = 200_000
OUTPUT = "".join(f"src/module_{n}.py:{n}: value = compute({n})\n" for n in range(40))
"""What each call gives back: about 1,600 characters."""


def _ignore(event: Event) -> None:
    """Show nothing."""


@dataclass
class Turns:
    """What was measured, turn by turn."""

    overhead_ms: list[float] = field(default_factory=list)
    reference_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    """Messages of each request: compaction makes them fewer again."""
    memory: dict[int, int] = field(default_factory=dict)
    """Bytes of live objects at each turn whose request a compaction had made shorter."""

    @property
    def was_compacted(self) -> bool:
        """Whether the newest request is shorter than the one before it."""
        return len(self.requests) > 1 and self.requests[-1] < self.requests[-2]


class Meter:
    """A model that asks for one call a turn; whatever passes between its answers is the loop's."""

    info = ModelInfo("bench", "model", WINDOW, 8_000)

    def __init__(self, turns: int, folder: Path, files: tuple[Path, Path]) -> None:
        """Measure so many turns; ``files`` are session and audit."""
        self.seen = Turns()
        self._turns = turns
        self._files = files
        self._sizes = self._grown()
        self._bare = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._began: tuple[float, float] | None = None
        self.fsyncs_a_turn = 0

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Close the turn that ran, measure the reference, and answer."""
        if prompt.purpose == "summary":
            return AssistantMessage((Text("## Goal\ncount"),), "end_turn", Usage(10, 10))
        now, cpu = time.perf_counter(), time.process_time()
        if self._began is not None:
            self._close(now - self._began[0], cpu - self._began[1])
        number = len(self.seen.overhead_ms)
        self.seen.requests.append(len(prompt.messages))
        if self.seen.was_compacted:
            gc.collect()
            self.seen.memory[number] = tracemalloc.get_traced_memory()[0]
        size = sum(_characters(message) for message in prompt.messages) // 4
        answer = self._answer(number, size)
        on_delta(Delta("text", f"turn {number}"))
        self._began = time.perf_counter(), time.process_time()
        return answer

    def close(self) -> None:
        """Give the reference's file up."""
        os.close(self._bare)

    def _answer(self, number: int, size: int) -> AssistantMessage:
        usage = Usage(input=size, output=40)
        if number == self._turns:
            return AssistantMessage((Text("done"),), "end_turn", usage, self.info.id)
        command = f"look {number}"
        raw = json.dumps({"command": command})
        call = ToolCall(CallId(f"call_{number}"), "bash", raw, {"command": command})
        return AssistantMessage((Text(f"turn {number}"), call), "tool_use", usage, self.info.id)

    def _close(self, wall: float, cpu: float) -> None:
        """Append what the turn wrote once more, bare: one write and fsync for each of the turn's."""
        sizes, self._sizes = self._sizes, self._grown()
        grown = max(sum(self._sizes) - sum(sizes), 1)
        piece = b"x" * (grown // self.fsyncs_a_turn if self.fsyncs_a_turn else grown)
        began = time.perf_counter()
        for _ in range(self.fsyncs_a_turn or 1):
            os.write(self._bare, piece)
            os.fsync(self._bare)
        self.seen.reference_ms.append((time.perf_counter() - began) * 1000)
        self.seen.overhead_ms.append(wall * 1000)
        self.seen.cpu_ms.append(cpu * 1000)

    def _grown(self) -> tuple[int, ...]:
        return tuple(path.stat().st_size if path.exists() else 0 for path in self._files)


def _characters(message: object) -> int:
    if isinstance(message, UserMessage | AssistantMessage):
        return sum(len(getattr(part, "text", "")) for part in message.content)
    return sum(len(result.output) for result in getattr(message, "results", ()))


def corridor(
    box: ScriptedBox, tools: dict[str, Tool], audit: AuditLog, output: OutputFilter
) -> Dispatcher:
    """Return the real corridor, under the shipped policy."""
    policy = load_policy(["default"], search=asset("policies"), user_file=None)
    judge = Judge(
        lambda request, tool: evaluate(policy, request, tool=tool),
        Asking(NobodyConfirmer(), timeout_s=1),
        audit,
        observe=_ignore,
        scrub=output.scrub,
    )
    execs = Execs(
        lambda request: evaluate_command(policy, request),
        audit=audit,
        output=output,
        observe=_ignore,
        unexpected="report",
    )
    return Dispatcher(
        tools,
        box,
        judge,
        audit=audit,
        context=ToolContext("/workspace"),
        output=output,
        observe=_ignore,
        execs=execs,
    )


async def measure(turns: int, folder: Path, *, fsyncs: int) -> Turns:
    """Run so many turns and return what each cost."""
    session, chain = folder / "session.jsonl", folder / "audit.jsonl"
    output = OutputFilter(Redactor({"key": "planted-value-1234567890"}))
    meter = Meter(turns, folder, (session, chain))
    meter.fsyncs_a_turn = fsyncs
    commands = {f"look {n}": Reply(f"{n}\n{OUTPUT}") for n in range(turns)}
    header = SessionHeader(SESSION, "/project", "2026-01-01T00:00:00Z")
    with SessionStore.create(session, header) as store:
        audit = AuditLog.create(
            chain, session=SESSION, genesis={}, signer=Signer.load(folder / "keys")
        )
        tools = {tool.definition.name: tool for tool in builtin_tools()}
        dispatcher = corridor(ScriptedBox(commands), tools, audit, output)
        transcript = StoredTranscript(store)
        transcript.add(UserMessage((Text("count"),)))
        speech = Speech("be good", tuple(tool.definition for tool in tools.values()))
        summariser = Summariser(meter, lambda name, _arguments: name)
        context = SessionContext(
            store, lambda: meter.info, lambda: summariser, _ignore, output.scrub
        )
        loop = AgentLoop(
            meter,
            dispatcher,
            transcript,
            audit=audit,
            speech=lambda: speech,
            limits=Limits(steps=None, tokens=None),
            output=output,
            observe=_ignore,
            around=Around(context, PersonQueue(_ignore, output.scrub), WorkClock()),
        )
        result = await loop.run()
        audit.close()
    meter.close()
    if result.status != "done" or len(meter.seen.overhead_ms) != turns:
        raise RuntimeError(f"the run ended early: {result.status}")
    return meter.seen


class Fsyncs:
    """Counts fsyncs of this process, as the interpreter sees them."""

    def __init__(self) -> None:
        """Count from zero."""
        self.count = 0

    def __call__(self, _frame: object, event: str, argument: object) -> None:
        """Take note of one call."""
        self.count += event == "c_call" and argument is os.fsync


def fsyncs_of_a_turn() -> int:
    """Return how many fsyncs a turn has: the reference has as many."""
    counter, few = Fsyncs(), (20, 40)
    counts = []
    for turns in few:
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="gb-") as folder:
            counter.count = 0
            sys.setprofile(counter)
            try:
                anyio.run(partial(measure, turns, Path(folder), fsyncs=0))
            finally:
                sys.setprofile(None)
            # One of each turn is the reference's own.
            counts.append(counter.count - turns)
    return round((counts[1] - counts[0]) / (few[1] - few[0]))


def report(seen: Turns, fsyncs: int, *, edge: int) -> dict[str, object]:
    """Return the figures; ``edge`` turns at both ends are compared."""
    first, last = slice(WARM_UP, edge), slice(-(edge - WARM_UP), None)
    p50 = statistics.median
    ratios = [took / bare for took, bare in zip(seen.overhead_ms, seen.reference_ms, strict=True)]
    own = [took - bare for took, bare in zip(seen.overhead_ms, seen.reference_ms, strict=True)]
    return {
        "turns": len(seen.overhead_ms),
        "fsyncs_a_turn": fsyncs,
        "overhead_ms_p50": round(p50(seen.overhead_ms), 2),
        "bare_fsyncs_ms_p50": round(p50(seen.reference_ms), 2),
        "without_the_disk_ms_p50": round(p50(own), 2),
        "cpu_ms_p50": round(p50(seen.cpu_ms), 2),
        "over_bare_first": round(p50(ratios[first]), 2),
        "over_bare_last": round(p50(ratios[last]), 2),
        "cpu_last_over_first": round(p50(seen.cpu_ms[last]) / p50(seen.cpu_ms[first]), 2),
        "wall_last_over_first": round(
            p50(seen.overhead_ms[last]) / p50(seen.overhead_ms[first]), 2
        ),
        "compactions": sum(a > b for a, b in zip(seen.requests, seen.requests[1:], strict=False)),
        "goal_ms": GOAL_MS,
        "met": p50(seen.overhead_ms) <= GOAL_MS,
    }


def memory_of(turns: int) -> dict[str, object]:
    """Return how live objects grow from one compaction to the last, in a run of its own.

    Tracing slows a run down. Between compactions they grow with what the model is told.
    """
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="gb-") as folder:
        tracemalloc.start()
        try:
            seen = anyio.run(lambda: measure(turns, Path(folder), fsyncs=1))
        finally:
            tracemalloc.stop()
        written = (Path(folder) / "session.jsonl").stat().st_size
    (first, *_), (*_, last) = seen.memory, seen.memory
    grown = (seen.memory[last] - seen.memory[first]) / (last - first)
    return {
        "live_kb_after_compactions": [size // 1024 for size in seen.memory.values()],
        "live_bytes_a_turn": round(grown),
        "session_file_bytes_a_turn": round(written / turns),
        "live_over_written": round(grown / (written / turns), 2),
    }


def main() -> None:
    """Print all figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, usage="loop.py [--quick]")
    parser.add_argument("--quick", action="store_true", help="800 turns")
    turns = 800 if parser.parse_args().quick else TURNS
    fsyncs = fsyncs_of_a_turn()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="gb-") as folder:
        seen = anyio.run(lambda: measure(turns, Path(folder), fsyncs=fsyncs))
    figures = report(seen, fsyncs, edge=EDGE)
    print(json.dumps({**figures, **memory_of(turns)}, indent=2))


if __name__ == "__main__":
    main()
