"""What is being carried out now, so that new rules can end what they no longer let pass."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from orchestrator.egress.ledger import Ledger, Meter
from orchestrator.egress.seams import Admission, Gatekeeper
from orchestrator.schema.egress import Traffic

LOOK_EVERY_S = 60.0
"""A change of ``idle_s`` is heard by then."""

BY_RULES = "the rules that are in force now do not let it pass"


@dataclass(eq=False)
class Carried:
    """One admitted request or tunnel, while it lasts."""

    admission: Admission
    meter: Meter
    idle_s: float
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    since: float = 0.0
    """When something last passed."""
    _timer: asyncio.TimerHandle | None = None
    status: int | None = None
    address: str = ""
    problem: str = ""
    refused: str = ""
    """Rule by which the proxy's own answer stood in place of the server's."""

    def touch(self) -> None:
        """Note that something passed: it may be idle from now on."""
        self.since = asyncio.get_running_loop().time()

    def watch(self) -> None:
        """End it when nothing passed for too long; ``touch`` only writes down the time."""
        loop = asyncio.get_running_loop()
        until = self.since + self.idle_s
        if loop.time() < until:
            wait = min(until - loop.time(), LOOK_EVERY_S)
            self._timer = loop.call_later(wait, self.watch)
        else:
            self.cut("")

    def unwatch(self) -> None:
        """Leave it alone."""
        if self._timer is not None:
            self._timer.cancel()

    def cut(self, problem: str) -> None:
        """End it."""
        self.problem = problem
        self.scope.cancel()


class Live:
    """All that is being carried out in a session."""

    def __init__(self, gatekeeper: Gatekeeper, ledger: Ledger) -> None:
        """Tell the gatekeeper the end of each, and count against ``ledger``."""
        self._gatekeeper = gatekeeper
        self._ledger = ledger
        self._all: set[Carried] = set()

    @contextmanager
    def carry(self, admission: Admission, *, idle_s: float = math.inf) -> Iterator[Carried]:
        """Carry something out; it ends early when nothing passes, or new rules forbid it."""
        carried = Carried(admission, Meter(admission.verdict.terms, self._ledger), idle_s)
        self._all.add(carried)
        try:
            with carried.scope:
                carried.touch()
                carried.watch()
                yield carried
        finally:
            carried.unwatch()
            self._all.discard(carried)
            if carried.scope.cancelled_caught and not carried.problem:
                carried.problem = f"nothing passed for {carried.idle_s:g} seconds"
            self._gatekeeper.passed(
                admission,
                Traffic(
                    bytes_up=carried.meter.up,
                    bytes_down=carried.meter.down,
                    status=carried.status,
                    address=carried.address,
                    problem=carried.problem,
                    refused=carried.refused,
                ),
            )

    def recheck(self) -> int:
        """End what the rules in force no longer let pass; return how many that were."""
        over = [item for item in self._all if not self._gatekeeper.still_allows(item.admission)]
        for item in over:
            item.cut(BY_RULES)
        return len(over)
