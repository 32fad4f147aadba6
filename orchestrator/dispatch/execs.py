"""What the commands of a session started: kept for the audit, and told where it was unexpected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.dispatch.started_programs import SHOWN_WORDS, StartedPrograms
from orchestrator.policy.exec_time import (
    OVERFLOW,
    ExecJudge,
    Expectation,
    JudgeCommand,
    unseen,
)
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import Observer, UnexpectedExec
from orchestrator.schema.exec_record import ExecReport, ExecSeen, OnExecs
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest, ProcessStart, Request

MOST_TOLD = 20
"""Unexpected ones of one call that are told; one program is told once for each rule."""


class Execs:
    """One session's."""

    def __init__(
        self,
        judge: JudgeCommand,
        *,
        audit: AuditSink,
        output: OutputFilter,
        observe: Observer,
        unexpected: Literal["report", "end"],
    ) -> None:
        """``unexpected`` is what policy wants of a program that was not foreseen."""
        self._judge = ExecJudge(judge)
        self.audit = audit
        self.output = output
        self.observe = observe
        self.ends = unexpected == "end"

    def watch(self, call: ToolCall, request: Request) -> Watched | None:
        """Return who is to hear what the call starts; None where it starts nothing."""
        if not isinstance(request, ExecRequest | ProcessStart):
            return None
        return Watched(self, call, self._judge.expect(request))


class Watched:
    """One call's programs: until its outcome they are gathered, after it each report is recorded."""

    def __init__(self, session: Execs, call: ToolCall, expected: Expectation) -> None:
        self._session = session
        self._call = call
        self._expected = expected
        self._started = StartedPrograms()
        self._surprises = 0
        self._told: set[tuple[str, str, str]] = set()
        self._settled = False
        self._overflowed = False
        self.ended_for = ""
        """What the call was ended for; empty where it was not."""

    def expect(self, request: ExecRequest) -> None:
        """Take what a further command starts for expected: it was judged, and may run."""
        self._expected.also(request)

    def allow_more(self, characters: int) -> None:
        """Read so much more of what is started: for one that goes on for long."""
        self._expected.allow_more(characters)

    def hear(self, report: ExecReport) -> bool:
        """Take one report; True where policy wants the call ended."""
        self._started.add(report)
        end = False
        for seen in report.execs:
            decision = self._expected.unforeseen(seen)
            if decision is not None:
                end = self._unexpected(seen, decision) or end
        if report.overflow and not self._overflowed:
            self._overflowed = True
            lost = ExecSeen(0, 0, "", ())
            end = self._unexpected(lost, unseen(OVERFLOW)) or end
        if self._settled and (report.execs or report.unlisted):
            body = {"call": self._call.id, **self.take()}
            self._append("execs", body)
        return end

    def settle(self) -> dict[str, Any]:
        """Return what was started before the outcome, as audit data; later reports stand alone."""
        self._settled = True
        return self.take()

    def take(self) -> dict[str, Any]:
        """Return what was gathered, once; the list apart, since it may be long for one record."""
        counts = {**self._started.counts(), "unexpected": self._surprises}
        self._surprises = 0
        return {"execs": counts, "programs": self._started.take()}

    def _unexpected(self, seen: ExecSeen, decision: Decision) -> bool:
        self._surprises += 1
        ends = self._session.ends
        words = [self._session.output.scrub(word) for word in seen.argv[:SHOWN_WORDS]]
        if ends and not self.ended_for:
            shown = " ".join(words) or seen.path or "programs that cannot be read"
            self.ended_for = f"{shown} ({decision.reason})"
        key = (seen.name, decision.rule, decision.layer)
        if key not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(key)
            self._session.observe(
                UnexpectedExec(
                    call=self._call.id,
                    argv=tuple(words),
                    path=self._session.output.scrub(seen.path),
                    risks=decision.risks,
                    rule=decision.rule,
                    layer=decision.layer,
                    reason=self._session.output.scrub(decision.reason),
                    ended=ends,
                )
            )
            self._append(
                "unexpected_exec",
                {
                    "call": self._call.id,
                    "argv": words,
                    "path": seen.path,
                    "pid": seen.pid,
                    "parent": seen.parent,
                    "effect": decision.effect,
                    "rule": decision.rule,
                    "layer": decision.layer,
                    "risks": list(decision.risks),
                    "reason": decision.reason,
                    "ended": ends,
                },
            )
        return ends

    def _append(self, kind: str, body: Mapping[str, Any]) -> None:
        self._session.audit.append(kind, self._session.output.scrub_data(body))


def hearing(watched: Watched | None) -> OnExecs | None:
    """Return what the box is to call; None where there is nobody to hear it."""
    return None if watched is None else watched.hear
