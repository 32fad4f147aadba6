"""What a session's box may take from models: rate, tokens, money; reserved before a call leaves.

A call holds what it may take at most until its answer is over, so calls beside each other cannot
pass a limit together. What is held and not used comes back.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from anyio import CancelScope, to_thread

from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits, DayUse
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.errors import ConfigError
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.message import Usage

_MINUTE_S = 60.0
_SOON_S = 2
"""Seconds after which calls beside this one may have given back what they hold."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and dollars; None: the price is not known."""

    tokens: int = 0
    cost_usd: float | None = 0.0
    alone: bool = False
    """Its provider may go several rounds for it: no second one of the kind runs beside it."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What is left of the run now, what the box used taken off too; None: no limit."""

    tokens: int | None = None
    cost_usd: float | None = None
    cost_usd_per_day: float | None = None
    """Of all this user's sessions and their boxes together, by the day in UTC: the whole of it."""


def no_run_limits() -> RunLimits:
    """Return that no run limits the box."""
    return RunLimits()


@dataclass(slots=True)
class Hold:
    """What one call may take; settled once."""

    amount: Amount
    counted: list[tuple[DayLedger, str]] = field(default_factory=list)
    """The ledgers it is counted in, each with the day."""
    settled: bool = False


@dataclass(slots=True)
class BoxSpent:
    """What a session's box has used."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None for good once one call's cost is not known."""
    known_cost_usd: float = 0.0
    requests: int = 0


class BoxBudget:
    """One session's account. Not safe between threads: one event loop uses it."""

    def __init__(
        self,
        terms: Callable[[], BoxModels],
        *,
        day: DayLedger,
        monotonic: Callable[[], float],
        run: Callable[[], RunLimits] = no_run_limits,
        whole: DayLedger | None = None,
    ) -> None:
        """``terms`` gives the limits in force, ``run`` what is left of the run, ``monotonic`` seconds.

        ``day`` counts what boxes take, ``whole`` what all sessions and their boxes spend.
        """
        self._terms = terms
        self._whole = whole
        self._run = run
        self._day = day
        self._monotonic = monotonic
        self._starts: deque[float] = deque()
        self._held = Amount()
        self._one_alone = False
        self.spent = BoxSpent()

    def admit(self) -> None:
        """Count a request to the rate; RefusedCallError with 429 where there were too many."""
        most = self._terms().requests_per_minute
        now = self._monotonic()
        while self._starts and now - self._starts[0] >= _MINUTE_S:
            self._starts.popleft()
        if most is not None and len(self._starts) >= most:
            wait = max(1, math.ceil(self._starts[-most] + _MINUTE_S - now))
            raise RefusedCallError(
                429,
                f"more than {most} model requests in a minute; try again in {wait} s",
                rule="models.box.requests_per_minute",
                retry_after_s=wait,
            )
        self._starts.append(now)

    async def reserve(self, amount: Amount) -> Hold:
        """Hold what a call may take; RefusedCallError where it does not fit."""
        terms, run = self._terms(), self._run()
        if amount.alone and self._one_alone:
            raise RefusedCallError(
                429,
                "another call is under way whose size its body does not show, and those go one "
                "after the other; try again soon",
                rule="models.box.remote",
                retry_after_s=_SOON_S,
            )
        own, dollars = self.spent, amount.cost_usd
        self._check_tokens(amount.tokens, _left(terms.tokens, own.usage.total), "models.box.tokens")
        self._check_tokens(amount.tokens, run.tokens, "limits.tokens")
        if dollars is not None:
            self._check_cost(
                dollars, _left(terms.cost_usd, own.known_cost_usd), "models.box.cost_usd"
            )
            self._check_cost(dollars, run.cost_usd, "limits.cost_usd")
        self._hold(amount, 1)
        hold = Hold(amount)
        try:
            for account in self._days(terms, run):
                await to_thread.run_sync(_take_of_day, account, hold)
        except BaseException:
            self._hold(amount, -1)
            await self._correct(hold, -amount.tokens, -(amount.cost_usd or 0.0))
            raise
        return hold

    async def settle(self, hold: Hold, usage: Usage, cost_usd: float | None) -> None:
        """Put what was used in the place of what was held."""
        if hold.settled:
            return
        hold.settled = True
        self._hold(hold.amount, -1)
        spent = self.spent
        spent.requests += 1
        spent.usage += usage
        spent.known_cost_usd += cost_usd or 0.0
        known = spent.cost_usd is not None and cost_usd is not None
        spent.cost_usd = spent.known_cost_usd if known else None
        tokens = usage.total - hold.amount.tokens
        await self._correct(hold, tokens, (cost_usd or 0.0) - (hold.amount.cost_usd or 0.0))

    async def _correct(self, hold: Hold, tokens: int, dollars: float) -> None:
        with CancelScope(shield=True):
            for ledger, day in hold.counted:
                # A count that cannot be put right stays too high; the next call is refused by it.
                with suppress(ConfigError, OSError):
                    await to_thread.run_sync(ledger.correct, day, tokens, dollars)

    def _hold(self, amount: Amount, sign: int) -> None:
        if amount.alone:
            self._one_alone = sign > 0
        self._held = Amount(
            self._held.tokens + sign * amount.tokens,
            (self._held.cost_usd or 0.0) + sign * (amount.cost_usd or 0.0),
        )

    def _check_tokens(self, wanted: int, left: float | None, rule: str) -> None:
        _check(_Account("tokens", ",.0f", left, rule), wanted, held=self._held.tokens)

    def _check_cost(self, wanted: float, left: float | None, rule: str) -> None:
        _check(_Account("dollars", ".4f", left, rule), wanted, held=self._held.cost_usd or 0.0)

    def _days(self, terms: BoxModels, run: RunLimits) -> Iterator[_Day]:
        if terms.limits_days:
            limits = DayLimits(terms.tokens_per_day, terms.cost_usd_per_day)
            yield _Day(self._day, limits, "models.box", "models.box.per_day")
        if self._whole is not None:
            most = run.cost_usd_per_day
            yield _Day(self._whole, DayLimits(cost_usd=most), "limits", "limits.cost_usd_per_day")


@dataclass(frozen=True, slots=True)
class _Day:
    """One ledger and what its count may come to."""

    ledger: DayLedger
    limits: DayLimits
    section: str
    uncounted: str
    """The rule by which a call is refused that cannot be counted."""


def _take_of_day(account: _Day, hold: Hold) -> None:
    amount, limits = hold.amount, account.limits
    try:
        day, over = account.ledger.take(amount.tokens, amount.cost_usd or 0.0, limits)
    except (ConfigError, OSError) as error:
        if limits == DayLimits():
            # Nothing of this session hangs on the count.
            return
        # Nobody knows what was used today: nothing more is.
        raise RefusedCallError(
            403, f"today's model use cannot be counted: {error}", rule=account.uncounted
        ) from error
    if over is not None:
        raise _day_is_spent(over, account, amount)
    hold.counted.append((account.ledger, day))


@dataclass(frozen=True, slots=True)
class _Account:
    unit: str
    form: str
    left: float | None
    """None: no limit."""
    rule: str


def _left(limit: float | None, used: float) -> float | None:
    return None if limit is None else max(limit - used, 0.0)


def _check(account: _Account, wanted: float, *, held: float) -> None:
    """Refuse what does not fit: for good, or until calls beside it have given back what they hold."""
    left, unit, form = account.left, account.unit, account.form
    if left is None or held + wanted <= left:
        return
    if held > 0 and wanted <= left:
        raise RefusedCallError(
            429,
            f"other calls hold what is left of the session's {unit}; try again soon",
            rule=account.rule,
            retry_after_s=_SOON_S,
        )
    raise RefusedCallError(
        403,
        f"the session's model budget has {left:{form}} {unit} left, and this call "
        f"may take {wanted:{form}}. Ask for a shorter answer, or end here: the session's owner sets "
        f"{account.rule}",
        rule=account.rule,
    )


def _day_is_spent(used: DayUse, account: _Day, wanted: Amount) -> RefusedCallError:
    limits = account.limits
    by_tokens = limits.tokens is not None and used.tokens + wanted.tokens > limits.tokens
    key = "tokens_per_day" if by_tokens else "cost_usd_per_day"
    taken = f"{used.tokens:,} tokens" if by_tokens else f"{used.cost_usd:.4f} dollars"
    anew = "It begins anew at midnight UTC"
    if account.ledger.is_ahead(used):
        # The file's name alone: where it lies on the host is nothing to the box.
        anew = (
            f"The count is of {used.day}, which has not begun: the session's owner can put the day "
            f"in {account.ledger.path.name} right, or move the file away to count from zero"
        )
    return RefusedCallError(
        403,
        f"today's model budget has no room for this call: {taken} are used or held. {anew}; the "
        f"session's owner sets {account.section}.{key}",
        rule=f"{account.section}.{key}",
    )
