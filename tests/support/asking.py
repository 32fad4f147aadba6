"""Questions and people for tests of whoever answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio

from orchestrator.confirmation.channels import ChannelLostError
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.held import Held
from orchestrator.confirmation.inbox import Inbox
from orchestrator.policy.layer import BoxPaths
from orchestrator.policy.likeness import liken
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import ExecRequest, request_digest

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
ALL = ("once", "session", "30m", "project")


def question(
    command: str = "git push origin main",
    *,
    session: str = "0123456789ab",
    project: str = "/home/ann/shop",
    scopes: tuple[str, ...] = ALL,
    timeout_s: float = 120.0,
    more: dict[str, Any] | None = None,
    **decision: Any,
) -> Question:
    """Return the question that a command makes, with its real digest and likeness."""
    request = ExecRequest(command, "/workspace", timeout_s)
    facts = {"rule": "risk:publishes", "layer": "session", "reason": "publishes"} | decision
    digest = request_digest(request)
    return Question(
        **(
            {
                "id": digest[7:19],
                "call": "call_1",
                "tool": "bash",
                "subject": command,
                "cwd": "/workspace",
                "decision": Decision("ask", **facts),
                "digest": digest,
                "scopes": scopes,
                "session": session,
                "project": project,
                "likeness": liken(BoxPaths(), request),
                "created": START,
            }
            | (more or {})
        )
    )


class Clock:
    """A time that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **more: float) -> None:
        """Let time pass."""
        self.now += timedelta(**more)


class Someone:
    """A person behind a channel: says what is scripted, after what is waited for."""

    def __init__(
        self,
        *answers: Answer,
        by: str = "terminal",
        after: anyio.Event | None = None,
        fails: str = "",
        late: Answer | None = None,
    ) -> None:
        self.answers = [*answers]
        self.by = by
        self.after = after
        self.fails = fails
        self.late = late
        self.asked: list[Question] = []
        self.told: list[Answer] = []

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        self.asked.append(question)
        if self.after is not None:
            await self.after.wait()
        if self.fails:
            raise ChannelLostError(self.fails)
        if not self.answers:
            await anyio.sleep(timeout_s)
            return Answer(yes=False, by="timeout")
        return self.answers.pop(0)

    async def close(self, question: Question, answer: Answer) -> Answer | None:  # noqa: ARG002 - the Protocol's form
        self.told.append(answer)
        return self.late


class Waiting(Someone):
    """Somebody who answers once ``after`` is set, and of whom ``reached`` says when they were asked."""

    def __init__(self, *answers: Answer) -> None:
        self.reached, after = anyio.Event(), anyio.Event()
        super().__init__(*answers, after=after)
        self.after: anyio.Event = after

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        self.reached.set()
        return await super().ask(question, timeout_s=timeout_s)


def ask(confirmer: Any, *questions: Question, timeout_s: float = 5.0) -> list[Answer]:
    """Ask one after the other and return the answers."""

    async def run() -> list[Answer]:
        return [await confirmer.ask(one, timeout_s=timeout_s) for one in questions]

    return anyio.run(run)


def yes(scope: str = "once", *, by: str = "terminal", **more: Any) -> Answer:
    """Return a yes."""
    return Answer(yes=True, by=by, scope=scope, **more)


def no(reason: str = "", *, by: str = "terminal", **more: Any) -> Answer:
    """Return a no."""
    return Answer(yes=False, by=by, reason=reason, **more)


async def until_asked(inbox: Inbox) -> Held:
    """Return the first question that waits, once there is one."""
    for _ in range(2000):
        found = [held for held in inbox.all() if held.state == "waiting"]
        if found:
            return found[0]
        await anyio.sleep(0.01)
    raise AssertionError("no question came")
