"""Holding a request while a person is asked, and what is remembered so that nobody is asked twice.

Requests that ask for the same share one question. A question outlives the request that it is about:
clients give up sooner than people answer, and what they ask for again a moment later has its answer.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import anyio
from anyio.abc import TaskGroup

from orchestrator.confirmation.gate import PERSONS, Answer, Question
from orchestrator.dispatch.questions import Questions
from orchestrator.errors import AuditError

MOST_HELD = 8
"""Different questions that may wait at one time: a box must not bury a person in them."""
AGAIN_S = 5.0
"""How long a no that nobody gave holds: a box that asks again and again fills no record with it."""
NOBODYS = frozenset({"nobody", "limit"})
"""Such a no is to whatever is asked next, too."""
MOST_KEPT = 1000
"""Answers of each kind that are remembered; the oldest go first, and are asked for anew."""
MOST_UNHEARD = 300
"""Questions within an hour to which no person said anything; more are a no that asks nobody."""
HOUR_S = 3600.0

_Key: TypeAlias = tuple[str, str, str]
_Kept = TypeVar("_Kept")


class BrokenQuestionError(Exception):
    """Raised when a question could not be put, for a reason that is safe to show."""


@dataclass(slots=True)
class _Held:
    """One question, and how many requests wait for its answer."""

    done: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0
    answer: Answer | None = None
    failure: Exception | None = None


class EgressAsker:
    """Asks about what would leave one session's box."""

    def __init__(
        self,
        questions: Questions,
        *,
        stands: Callable[[str], bool],
        unspent_s: float,
        hear: Callable[[Question, Answer], None] = lambda *_: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``stands`` says whether a remembered yes still does; ``hear`` is told of each answer.

        A yes to one time that nobody waits for any more is kept for ``unspent_s`` seconds.
        """
        self._questions = questions
        self._stands = stands
        self._unspent_s = unspent_s
        self._hear = hear
        self._now = now
        self._held: dict[_Key, _Held] = {}
        self._granted: dict[_Key, Answer] = {}
        self._denied: dict[_Key, tuple[Answer, float]] = {}
        self._unspent: dict[_Key, tuple[Answer, float]] = {}
        self._nobody: tuple[Answer, float] | None = None
        self._unheard: deque[float] = deque()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ask until the end of the block; what is open then stays unanswered."""
        async with anyio.create_task_group() as self._group:
            try:
                yield
            finally:
                self._group.cancel_scope.cancel()

    async def ask(self, question: Question) -> Answer:
        """Return the answer; AuditError where it cannot be recorded."""
        key = (question.digest, question.decision.rule, question.decision.layer)
        remembered = self._remembered(key, question)
        if remembered is not None:
            return remembered
        held = self._held.get(key)
        if held is None:
            refused = self._bound()
            if refused or self._group is None:
                return Answer(yes=False, by="limit", reason=refused or "nothing is asked any more")
            held = self._held[key] = _Held()
            self._group.start_soon(self._put, key, held, question)
        held.waiting += 1
        try:
            await held.done.wait()
        finally:
            held.waiting -= 1
        if held.failure is not None or held.answer is None:
            raise held.failure or BrokenQuestionError("the question was not put")
        return held.answer

    def _remembered(self, key: _Key, question: Question) -> Answer | None:
        denied, ends = self._denied.get(key, (None, 0.0))
        if denied is not None and self._now() < ends:
            return denied
        if self._nobody is not None and self._now() < self._nobody[1]:
            return self._nobody[0]
        granted = self._granted.get(key)
        if granted is not None and not question.decision.always:
            if self._stands(granted.grant):
                return granted
            del self._granted[key]
        answer, until = self._unspent.pop(key, (None, 0.0))
        return answer if self._now() < until else None

    def _bound(self) -> str:
        """Return why no further question is put now; empty where one may be."""
        while self._unheard and self._now() - self._unheard[0] >= HOUR_S:
            self._unheard.popleft()
        if len(self._unheard) >= MOST_UNHEARD:
            return f"{MOST_UNHEARD} questions within an hour were heard by no person"
        if len(self._held) >= MOST_HELD:
            return f"{MOST_HELD} other questions wait for an answer; try again later"
        return ""

    async def _put(self, key: _Key, held: _Held, question: Question) -> None:
        try:
            held.answer = answer = await self._questions.put(question)
            self._hear(question, answer)
            self._keep(key, answer, wanted=held.waiting > 0)
        except AuditError as error:
            held.failure = error
        except Exception as error:  # noqa: BLE001 - one question that breaks must not end the others
            held.failure = BrokenQuestionError(f"{type(error).__name__} while asking")
        finally:
            del self._held[key]
            held.done.set()

    def _keep(self, key: _Key, answer: Answer, *, wanted: bool) -> None:
        if not answer.yes:
            self._keep_no(key, answer)
        elif answer.grant:
            _store(
                self._granted,
                key,
                Answer(
                    yes=True,
                    by="memory",
                    scope=answer.scope,
                    who=answer.who,
                    via=answer.via,
                    grant=answer.grant,
                ),
            )
        elif not wanted:
            _store(self._unspent, key, (answer, self._now() + self._unspent_s))

    def _keep_no(self, key: _Key, answer: Answer) -> None:
        again = self._now() + AGAIN_S
        if answer.by in PERSONS or answer.by == "memory":
            _store(self._denied, key, (replace(answer, by="memory"), math.inf))
            return
        self._unheard.append(self._now())
        _store(self._denied, key, (answer, again))
        if answer.by in NOBODYS:
            self._nobody = (answer, again)


def _store(kept: dict[_Key, _Kept], key: _Key, value: _Kept) -> None:
    """Keep a value, and let go of the oldest beyond what may be kept."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]
