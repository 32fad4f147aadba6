"""The inbox as a channel: a question waits on disk, and somebody answers it from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import anyio
from anyio import to_thread

from orchestrator.confirmation.channels import Announce, ChannelLostError
from orchestrator.confirmation.gate import Answer, Confirmer, Question, utc_now
from orchestrator.confirmation.inbox import Inbox
from orchestrator.errors import ApprovalError

POLL_S = 0.2


class InboxChannel:
    """Waits for an answer in the inbox."""

    def __init__(self, inbox: Inbox, *, note: Callable[[str], None] | None = None) -> None:
        """``note`` is told how to answer, where nothing else shows the question."""
        self._inbox = inbox
        self._note = note

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer that somebody put there, or a no by ``timeout``."""
        end = utc_now() + timedelta(seconds=timeout_s)
        try:
            await to_thread.run_sync(lambda: self._inbox.put(question, expires=end))
        except ApprovalError as error:
            raise ChannelLostError(error.message) from error
        if self._note is not None:
            self._note(how_to_answer(question))
        with anyio.move_on_after(timeout_s):
            while True:
                await anyio.sleep(POLL_S)
                answer = await to_thread.run_sync(self._inbox.collect, question)
                if answer is not None:
                    return answer
        return Answer(yes=False, by="timeout", reason="nobody answered in time")

    async def close(self, question: Question, answer: Answer) -> Answer | None:
        """End the question; return an answer that lay there."""
        return await to_thread.run_sync(self._inbox.close, question, answer)


class KeepingConfirmer:
    """Where nobody answers, the question is kept for whoever comes, and the answer now is no."""

    def __init__(
        self,
        otherwise: Confirmer,
        inbox: Inbox,
        *,
        note: Callable[[str], None],
        announce: Announce | None = None,
    ) -> None:
        """Ask ``otherwise`` first; ``announce`` tells of a question that nobody was asked."""
        self._otherwise = otherwise
        self._inbox = inbox
        self._note = note
        self._announce = announce

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer; ``nobody`` where the question is kept, ``unaskable`` where it cannot be."""
        answer = await self._otherwise.ask(question, timeout_s=timeout_s)
        if answer.by not in {"nobody", "timeout"}:
            return answer
        if question.session:
            try:
                await to_thread.run_sync(self._inbox.put, question)
            except ApprovalError as error:
                return Answer(yes=False, by="unaskable", reason=error.message)
            self._note(how_to_answer(question))
            self._note(f"then: glovebox run --resume {question.session}")
            if self._announce is not None and answer.by == "nobody":
                await self._announce(question)
        return replace(answer, by="nobody")


def how_to_answer(question: Question) -> str:
    """Return in a line how a waiting question is seen and answered."""
    return (
        f"a question waits: glovebox approvals show {question.id}, "
        f"then: glovebox approvals answer {question.id} yes (or no)"
    )
