"""Several ways to reach a person, side by side: the first answer counts, the others are kept.

A channel that fails drops out and says so; it never answers for the person. When none is left, the
answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

import anyio

from orchestrator.confirmation.gate import Answer, Question, utc_now

Announce = Callable[[Question], Coroutine[Any, Any, None]]
"""Tells a person that a question waits."""
CLOSE_S = 3.0
"""How long a channel may take to hear that another one was faster."""


class ChannelLostError(Exception):
    """Raised by a channel that cannot bring an answer; the text says why, and is safe to show."""


class Channel(Protocol):
    """One way to a person."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the person's answer, or a no by ``timeout``; raises ChannelLostError.

        Called for several questions at one time; ``timeout_s`` counts from the call.
        """
        ...

    async def close(self, question: Question, answer: Answer) -> Answer | None:
        """Take note of an answer that came elsewhere; return one that came here too late."""
        ...


class RacingConfirmer:
    """Asks on every channel at once, and several questions side by side; each has its time.

    A channel that shows one question at a time keeps the others waiting itself.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        note: Callable[[str], None],
        announce: Announce | None = None,
    ) -> None:
        """``note`` is told of channels that drop out; ``announce`` that a question waits."""
        self._channels = tuple(channels)
        self._note = note
        self._announce = announce

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the first answer, with those that came too late."""
        question = replace(question, expires=utc_now() + timedelta(seconds=timeout_s))
        given = await self._first(question, timeout_s)
        counted = given[0][1] if given else _no_answer()
        answered = {number for number, _ in given}
        lost = [answer for _, answer in given[1:]]
        with anyio.CancelScope(shield=True):
            lost += await self._close(question, counted, but=answered)
        return replace(counted, lost=tuple(lost))

    async def _first(self, question: Question, timeout_s: float) -> list[tuple[int, Answer]]:
        """Return every answer that had come when the first was noticed, in their order."""
        given: list[tuple[int, Answer]] = []

        async def ask(number: int) -> None:
            try:
                answer = await self._channels[number].ask(question, timeout_s=timeout_s)
            except ChannelLostError as error:
                self._note(str(error))
                return
            if answer.by != "timeout":
                given.append((number, answer))
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            if self._announce is not None:
                group.start_soon(self._announce, question)
            for number in range(len(self._channels)):
                group.start_soon(ask, number)
        return given

    async def _close(self, question: Question, answer: Answer, *, but: set[int]) -> list[Answer]:
        lost: list[Answer] = []
        for number, channel in enumerate(self._channels):
            if number in but:
                continue
            with anyio.move_on_after(CLOSE_S):
                late = await channel.close(question, answer)
                lost += [late] if late is not None else []
        return lost


def _no_answer() -> Answer:
    return Answer(yes=False, by="timeout", reason="nobody answered in time")
