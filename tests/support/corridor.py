"""The corridor put together for tests: real audit, real tools, real redaction, a scripted box."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.confirmation.answers import ScriptedConfirmer
from orchestrator.confirmation.gate import Answer, Confirmer
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.judge import Asking, Evaluate, Judge
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.result_room import RoomLeft, unbounded
from orchestrator.policy.exec_time import JudgeCommand
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.driver import Executor
from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.decision import Decision
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import Request
from orchestrator.tools.registry import BUILTIN_NAMES, builtin_tools
from orchestrator.tools.tool import Tool, ToolContext

SESSION = SessionId("0123456789ab")
YES = Answer(yes=True, by="scripted")


def verdict(effect: str, **more: Any) -> Evaluate:
    """Return a policy that says the same of everything."""

    def evaluate(request: Request, tool: str) -> Decision:  # noqa: ARG001 - the policy's form
        return Decision(effect, "rule-1", "session", "because", **more)  # type: ignore[arg-type]

    return evaluate


def call(name: str, number: int = 1, **arguments: Any) -> ToolCall:
    """Return a call as a model makes it."""
    return raw_call(name, json.dumps(arguments), number)


def raw_call(name: str, raw: str, number: int = 1) -> ToolCall:
    """Return a call with arguments as they were sent."""
    return ToolCall(CallId(f"call_{number}"), name, raw, parse_arguments(raw))


@dataclass
class Corridor:
    """A dispatcher with everything around it in reach."""

    dispatcher: Dispatcher
    audit: AuditLog
    audit_file: Path
    output: OutputFilter
    events: list[Event]
    confirmer: Confirmer

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the audit's own records as they are on disk now."""
        found = (json.loads(line) for line in self.audit_file.read_bytes().splitlines())
        return [item for item in found if kind in {None, item["type"]}]

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        """Return the bodies of one kind of record."""
        return [record["body"] for record in self.records(kind)]

    def of(self, kind: type[Event]) -> list[Any]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def lock_audit(self) -> None:
        """Make every further record fail: something else wrote to the chain."""
        with self.audit_file.open("ab") as file:
            file.write(b"x")

    def everything_written(self) -> str:
        """Return all that observers and the audit were given, as one text."""
        payloads = sorted(self.audit_file.parent.rglob("*"))
        texts = [path.read_text("utf-8", "replace") for path in payloads if path.is_file()]
        return repr(self.events) + "".join(texts)


def open_corridor(
    folder: Path,
    box: Executor,
    *,
    evaluate: Evaluate | None = None,
    confirmer: Confirmer | None = None,
    answers: Sequence[Answer] = (),
    known: Mapping[str, str] | None = None,
    stop: bool = False,
    timeout_s: float = 5.0,
    tools: Mapping[str, Tool] | None = None,
    observe: Callable[[Event], None] | None = None,
    judge_exec: JudgeCommand | None = None,
    unexpected: Literal["report", "end"] = "report",
    room: RoomLeft = unbounded,
) -> Corridor:
    """Put a dispatcher together; everything is allowed where nothing else is said."""
    events: list[Event] = []
    audit_file = folder / "audit" / f"{SESSION}.jsonl"
    signer = Signer.load(folder / "keys")
    audit = AuditLog.create(audit_file, session=SESSION, genesis={}, signer=signer)
    output = OutputFilter(Redactor(known or {}))
    who = confirmer or ScriptedConfirmer(answers)
    seen = observe or events.append
    judge = Judge(
        evaluate or verdict("allow"),
        Asking(who, timeout_s=timeout_s, stop_when_nobody=stop, session=SESSION),
        audit,
        observe=seen,
        scrub=output.scrub,
    )
    offered = tools or {tool.definition.name: tool for tool in builtin_tools(BUILTIN_NAMES)}
    dispatcher = Dispatcher(
        offered,
        box,
        judge,
        audit=audit,
        context=ToolContext("/workspace", 600.0),
        output=output,
        observe=seen,
        execs=Execs(
            judge_exec or (lambda request: (evaluate or verdict("allow"))(request, "bash")),
            audit=audit,
            output=output,
            observe=seen,
            unexpected=unexpected,
        ),
        room=room,
    )
    return Corridor(dispatcher, audit, audit_file, output, events, who)
