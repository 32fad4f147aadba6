"""A person behind an HTTP address: the question goes out signed, a signed answer comes back.

A receiver that has no answer yet says 202 and is asked again. What comes back counts only where it
is signed with the shared secret, fresh, a reply to this very request, and names the question's
digest; anything else drops the channel, and is never a yes or a no.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from orchestrator.confirmation import signing
from orchestrator.confirmation.channels import ChannelLostError
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.question_text import render_question
from orchestrator.confirmation.record import plain_data, question_of, record_of
from orchestrator.confirmation.webhook_reply import as_answer, verified
from orchestrator.credentials.secret import Secret

if TYPE_CHECKING:
    import httpx

COLUMNS = 100
MAX_ANSWER = 64 * 1024
"""Bytes of an answer."""
HOLD_S = 60.0
"""How long a receiver may hold one request open; later it is asked again."""
AGAIN_S = (1.0, 30.0)
"""The least and the most seconds between two requests for one question."""


@dataclass(frozen=True, slots=True)
class _Got:
    """One exchange with the receiver."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    nonce: str
    """Of the request."""


class WebhookChannel:
    """One receiver."""

    def __init__(self, url: str, secret: Secret, *, note: Callable[[str], None]) -> None:
        """Ask at ``url``, which is https, or http on this machine; ``note`` is told of trouble."""
        self._url = url
        self._secret = secret
        self._note = note
        self._told = False
        self._seen: set[str] = set()

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the signed answer, or a no by ``timeout``; raises ChannelLostError."""
        try:
            record = record_of(question, expires=question.expires)
        except ValueError as error:
            raise ChannelLostError(f"webhook: the question cannot be sent: {error}") from error
        shown = "\n".join(render_question(question_of(record), COLUMNS))
        body = _json({"type": "question", **plain_data(record), "shown": shown})
        with anyio.move_on_after(timeout_s):
            while True:
                got = await self._post("question", body)
                if got is not None and got.status == 200:
                    return self._answer(question, got)
                await anyio.sleep(_pause(got))
        return Answer(yes=False, by="timeout", reason="nobody answered in time")

    async def close(self, question: Question, answer: Answer) -> Answer | None:
        """Tell the receiver that it is over; return an answer of its own that came too late."""
        body = _json(
            {
                "type": "closed",
                "version": 1,
                "id": question.id,
                "digest": question.digest,
                "answer": "yes" if answer.yes else "no",
                "by": answer.by,
            }
        )
        try:
            got = await self._post("closed", body)
            return self._answer(question, got) if got is not None and got.status == 200 else None
        except ChannelLostError:
            # It is over either way, and what is not genuine was never an answer.
            return None

    async def _post(self, kind: str, body: bytes) -> _Got | None:
        """Return what came back; None where the receiver cannot be reached now."""
        import httpx  # noqa: PLC0415 - slow to load, and most runs have no webhook

        nonce = secrets.token_urlsafe(24)
        headers = signing.sign(
            self._secret, kind, body, timestamp=int(time.time()), nonce=nonce
        ) | {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        local = urlsplit(self._url).scheme == "http"
        try:
            async with (
                httpx.AsyncClient(timeout=HOLD_S, trust_env=not local) as client,
                client.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                data = await _bounded(response)
        except httpx.HTTPError as error:
            self._trouble(type(error).__name__)
            return None
        if response.status_code >= 500:
            self._trouble(str(response.status_code))
            return None
        if response.status_code not in {200, 202, 204}:
            raise ChannelLostError(f"webhook: the receiver answered {response.status_code}")
        return _Got(response.status_code, response.headers, data, nonce)

    def _trouble(self, what: str) -> None:
        """Say once that the receiver cannot be reached; it is tried again."""
        if not self._told:
            self._told = True
            self._note(f"webhook: no answer from the receiver ({what}); it is asked again")

    def _answer(self, question: Question, got: _Got) -> Answer:
        try:
            found, nonce = verified(
                self._secret, question, got.body, headers=got.headers, reply_to=got.nonce
            )
        except ValueError as error:
            raise ChannelLostError(f"webhook: an answer was refused: {error}") from error
        if nonce in self._seen:
            raise ChannelLostError("webhook: an answer was refused: it was sent before")
        self._seen.add(nonce)
        return as_answer(found, question, via=self._url)


async def _bounded(response: httpx.Response) -> bytes:
    data = b""
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > MAX_ANSWER:
            raise ChannelLostError(f"webhook: the answer is longer than {MAX_ANSWER} bytes")
    return data


def _pause(got: _Got | None) -> float:
    """Return how long to wait before asking again: what the receiver says, within bounds."""
    least, most = AGAIN_S
    try:
        wanted = float(got.headers.get("Retry-After", "")) if got is not None else most / 6
    except ValueError:
        wanted = least
    return min(max(wanted if math.isfinite(wanted) else least, least), most)


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode()
