"""Answers that were given before: what was denied in this run, and the yeses that stand."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from weakref import WeakValueDictionary

import anyio
from anyio import to_thread

from orchestrator.confirmation.gate import PERSONS, Answer, Confirmer, Question
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.turns import Turns
from orchestrator.schema.ids import Digest
from orchestrator.schema.likeness import Act, repeats

DENIED = "this was denied before, and a rewrite that does the same is the same: do something else"


class RememberingConfirmer:
    """Answers from memory where it may, asks on where it must, and keeps what was said."""

    def __init__(self, otherwise: Confirmer, *, grants: Grants, inbox: Inbox) -> None:
        """Ask ``otherwise`` what neither ``grants`` nor an answer in ``inbox`` covers."""
        self._otherwise = otherwise
        self._grants = grants
        self._inbox = inbox
        self._denied: dict[Digest, str] = {}
        self._denied_acts: list[tuple[tuple[Act, ...], str]] = []
        self._equal: WeakValueDictionary[Digest, Turns] = WeakValueDictionary()
        """Of questions that wait now."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the remembered answer, or the fresh one, within ``timeout_s`` from now.

        A call the person denied is denied again without asking until the model changes what it
        does; how it is written does not matter. Equal questions come one after the other: what was
        said to one may answer the next.
        """
        end = anyio.current_time() + timeout_s
        turns = self._equal.setdefault(question.digest, Turns())
        async with AsyncExitStack() as stack:
            with anyio.move_on_at(end) as waiting:
                await stack.enter_async_context(turns.turn())
            if waiting.cancelled_caught:
                return Answer(yes=False, by="timeout", reason="nobody answered in time")
            return await self._ask(question, timeout_s=max(end - anyio.current_time(), 0.0))

    async def _ask(self, question: Question, *, timeout_s: float) -> Answer:
        refused = self._refusal(question)
        if refused is not None:
            return Answer(yes=False, by="memory", reason=refused)
        grant = await to_thread.run_sync(self._grants.find, question)
        if grant is not None:
            return Answer(
                yes=True,
                by="memory",
                scope=grant.scope,
                who=grant.who,
                via=grant.via,
                grant=grant.id,
            )
        # An answer to a run that stopped, or was killed, while it waited.
        answer = await to_thread.run_sync(self._inbox.take, question)
        if answer is None:
            answer = await self._otherwise.ask(question, timeout_s=timeout_s)
        return await self._keep(question, answer)

    def _refusal(self, question: Question) -> str | None:
        if question.digest in self._denied:
            return self._denied[question.digest]
        acts = question.likeness.acts
        return next((why for denied, why in self._denied_acts if repeats(acts, denied)), None)

    async def _keep(self, question: Question, answer: Answer) -> Answer:
        if not answer.yes and answer.by in PERSONS:
            why = f"{answer.reason} ({DENIED})" if answer.reason else DENIED
            self._denied[question.digest] = why
            self._denied_acts.append((question.likeness.acts, why))
        if answer.yes and answer.by in PERSONS:
            grant = await to_thread.run_sync(self._grants.add, question, answer)
            return replace(answer, grant=grant.id) if grant is not None else answer
        return answer
