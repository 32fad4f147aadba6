"""What a webhook's receiver sends back: checked to be genuine, and an answer to this very question.

Pure but for the clock that it is given.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.confirmation import signing
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.reply import MAX_REASON
from orchestrator.confirmation.scopes import offered
from orchestrator.credentials.secret import Secret
from orchestrator.schema.terminal_text import escape_terminal


class WebhookAnswer(BaseModel):
    """What a receiver sends back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    digest: str
    reply_to: str
    """The nonce of the request that this answers."""
    answer: Literal["yes", "no"]
    scope: str = "once"
    widened: bool = False
    reason: str = Field(default="", max_length=MAX_REASON)
    who: str = Field(default="", max_length=200)


def verified(
    secret: Secret, question: Question, body: bytes, *, headers: Mapping[str, str], reply_to: str
) -> tuple[WebhookAnswer, str]:
    """Return the answer and its nonce; raises ValueError with the reason where it does not count.

    ``reply_to`` is the nonce of the request that it must be the reply to.
    """
    nonce = signing.check(secret, "answer", body, headers=headers, now=time.time())
    try:
        found = WebhookAnswer.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise ValueError(f"it is no answer: {escape_terminal(where)}") from None
    if (found.id, found.digest, found.reply_to) != (question.id, question.digest, reply_to):
        raise ValueError("it is to another question")
    if found.answer == "yes" and found.scope not in offered(question):
        raise ValueError("its scope was not offered")
    return found, nonce


def as_answer(found: WebhookAnswer, question: Question, *, via: str) -> Answer:
    """Return the answer; wider only where a pattern was offered."""
    yes = found.answer == "yes"
    wider = found.widened and found.scope != "once" and question.likeness.pattern is not None
    return Answer(
        yes=yes,
        by="webhook",
        scope=found.scope if yes else "once",
        reason=found.reason,
        who=found.who,
        via=via,
        widened=wider,
    )


def checked_url(url: str) -> str:
    """Return the address; raises ValueError where a question must not be sent there."""
    parts = urlsplit(url)
    local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("expected an https address")
    if parts.scheme == "http" and not local:
        raise ValueError("expected https; plain http is for this machine alone")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("expected an address without user, password or fragment")
    return url
