"""Calls that are no turn of the conversation: recorded, priced and counted to the run's limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.dispatch.records import AuditSink
from orchestrator.errors import ModelError
from orchestrator.loop.progress import Beside
from orchestrator.model.client import ModelClient, ModelInfo, OnDelta, Prompt
from orchestrator.model.prices import cost_of, saved_of
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.message import AssistantMessage, Usage
from orchestrator.sessions.store import SessionStore

BROKEN = "broken"
"""The purpose of tries that broke off: what came of them is void, and billed."""


@dataclass(slots=True)
class Meter:
    """What such calls of one session came to."""

    audit: AuditSink
    store: SessionStore
    skill: Callable[[], str | None] = lambda: None
    """Names the skill that is on."""
    shut: Callable[[], bool] = lambda: False
    """Says whether nothing more may be spent: then no call is made."""
    _usage: Usage = field(default_factory=Usage)
    _known_usd: float = 0.0
    _all_known: bool = True

    def note(self, info: ModelInfo, purpose: str, usage: Usage) -> None:
        """Record one call, in the chain and in the session, and count it."""
        cost = cost_of(usage, info)
        self._usage += usage
        self._known_usd += cost or 0.0
        self._all_known = self._all_known and cost is not None
        facts = {"model": info.id, "purpose": purpose, "usage": encode_usage(usage)}
        self.audit.append("model_call", facts)
        saved = saved_of(usage, info)
        more = {"cost_usd": cost, "saved_usd": saved, "skill": self.skill()}
        self.store.append("custom", {"kind": "usage", **facts, **more})

    def beside(self) -> Beside:
        """Return it in the loop's words."""
        cost = self._known_usd if self._all_known else None
        return Beside(self._usage, cost, self._known_usd)


def together(*parts: Beside) -> Beside:
    """Return what several came to; the cost is unknown where one part's is."""
    known = all(part.cost_usd is not None for part in parts)
    return Beside(
        sum((part.usage for part in parts), Usage()),
        sum(part.cost_usd or 0.0 for part in parts) if known else None,
        sum(part.known_cost_usd for part in parts),
    )


class Metered:
    """A model whose every call is noted; for all but the loop, which notes its own."""

    def __init__(
        self, client: Callable[[], ModelClient], meter: Meter, *, within_run: bool = False
    ) -> None:
        """``client`` gives the model of the moment; ``within_run``: a run's limits let it be asked."""
        self._within_run = within_run
        self._client = client
        self._meter = meter

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model of the moment."""
        return self._client().info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message once its cost is noted; ModelError where nothing may be spent."""
        client = self._client()
        if not self._within_run and self._meter.shut():
            raise ModelError(
                f"{client.info.id}: not asked: a limit on tokens or money is used up",
                kind="quota",
                hint="raise --max-tokens or --max-budget-usd, or the policy's limits",
            )
        message = await client.complete(prompt, on_delta=on_delta)
        self._meter.note(client.info, prompt.purpose, message.usage)
        return message
