"""What all of this user's sessions spend in a day (UTC), and how one session's models count to it.

What is sure to be billed, the prompt, is counted before a request leaves, and put right by what the
provider reports; so a process that dies in between has not spent nothing. Where policy sets
``limits.cost_usd_per_day``, a count that cannot be read or written lets no model be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits
from orchestrator.errors import ConfigError, ModelError
from orchestrator.model.client import ModelClient, ModelInfo, OnDelta, Prompt
from orchestrator.model.output_budget import prompt_size
from orchestrator.model.prices import cost_of
from orchestrator.schema.message import AssistantMessage, Usage
from orchestrator.schema.terminal_text import escape_terminal

SPENT_TODAY = "model-cost.json"
"""Beside the sessions of all directories; money alone counts in it."""
KEY = "limits.cost_usd_per_day"


def day_ledger(paths: Paths) -> DayLedger:
    """Return the count that all sessions share."""
    return DayLedger(paths.state / SPENT_TODAY)


@dataclass(slots=True)
class DayCount:
    """One session's part in the day."""

    ledger: DayLedger
    limit: float | None
    """US dollars that policy lets all sessions spend in a day."""
    note: Callable[[str], None]
    """Tells the person something; the text is safe."""
    _owed: float = field(default=0.0, init=False)
    """US dollars that could not be put down yet."""
    _told: bool = field(default=False, init=False)
    _told_ahead: bool = field(default=False, init=False)

    def today(self) -> float:
        """Return US dollars that all sessions spent today; ConfigError where a limit needs to know."""
        try:
            return self._used() + self._owed
        except (ConfigError, OSError) as error:
            self._fail(error)
            return 0.0

    def check(self) -> None:
        """Raise ConfigError where there is a limit and the count cannot be read and written."""
        try:
            self.ledger.take(0, 0.0, DayLimits())
            self._used()
        except (ConfigError, OSError) as error:
            self._fail(error)

    def counted(self, client: ModelClient) -> ModelClient:
        """Return the model with each of its calls counted."""
        return Counted(client, self)

    async def hold(self, cost_usd: float) -> str:
        """Count what is sure to be billed; return its day, "" where it cannot be counted.

        Raises ConfigError where there is a limit and it cannot be counted.
        """
        wanted = self._owed + cost_usd
        try:
            day, _ = await to_thread.run_sync(self.ledger.take, 0, wanted, DayLimits())
        except (ConfigError, OSError) as error:
            self._fail(error)
            return ""
        self._owed -= wanted - cost_usd
        return day

    async def charge(self, usage: Usage, info: ModelInfo) -> None:
        """Count a call of which nothing was held; raises as ``hold``."""
        if cost := cost_of(usage, info):
            await self.hold(cost)

    async def correct(self, day: str, cost_usd: float) -> None:
        """Add to what was held, or take from it; what cannot be put down is owed."""
        if not day or not cost_usd:
            return
        with anyio.CancelScope(shield=True):
            try:
                await to_thread.run_sync(self.ledger.correct, day, 0, cost_usd)
            except (ConfigError, OSError):
                self._owed += max(cost_usd, 0.0)

    def _used(self) -> float:
        used = self.ledger.used()
        if self.limit is not None and not self._told_ahead and self.ledger.is_ahead(used):
            self._told_ahead = True
            self.note(
                escape_terminal(
                    f"{KEY}: {self.ledger.path} counts for {used.day}, which has not begun: a clock "
                    "was wrong, or is. Until that day is over, all that is spent adds up; put the "
                    "day in the file right, or move the file away to count from zero"
                )
            )
        return used.cost_usd

    def _fail(self, error: ConfigError | OSError) -> None:
        hint = getattr(error, "hint", "") or "mend the file, or the directory it is in"
        said = f"what was spent on models today cannot be counted: {error}"
        if self.limit is not None:
            # Nobody knows what was spent: nothing more is.
            raise ConfigError(f"{KEY}: {said}", hint=hint) from error
        if not self._told:
            self._told = True
            self.note(escape_terminal(f"{said} ({hint}); no limit of this session hangs on it"))


class Counted:
    """A model whose every call counts to the day."""

    def __init__(self, client: ModelClient, day: DayCount) -> None:
        """Count what ``client`` is asked."""
        self._client = client
        self._day = day

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self._client.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message once its cost is counted; a broken-off call keeps its prompt's."""
        info = self._client.info
        if not (info.input_price or info.output_price):
            # It costs nothing, or nobody knows what.
            return await self._client.complete(prompt, on_delta=on_delta)
        held = prompt_cost(prompt, info)
        day = await self._day.hold(held)
        try:
            message = await self._client.complete(prompt, on_delta=on_delta)
        except ModelError:
            await self._day.correct(day, -held)
            raise
        await self._day.correct(day, (cost_of(message.usage, info) or 0.0) - held)
        return message


def prompt_cost(prompt: Prompt, info: ModelInfo) -> float:
    """Return what a prompt costs as it is sent, about; nothing where the price is not known."""
    if not info.input_price:
        return 0.0
    return cost_of(Usage(input=prompt_size(prompt, info.picture_rule)), info) or 0.0
