"""A desk for tests and demonstrations: keeps what it was told, and refuses on request."""

from __future__ import annotations

import anyio

from orchestrator.egress.endpoint.model_call import CallOutcome, ModelCall
from orchestrator.errors import AuditUnavailable


class ScriptedDesk:
    """Records in memory."""

    def __init__(self) -> None:
        """Nothing happened yet."""
        self.begun: list[ModelCall] = []
        self.ended: list[tuple[ModelCall, CallOutcome]] = []
        self.one_ended = anyio.Event()
        self.broken = False
        """No record can be written."""

    async def begin(self, call: ModelCall) -> None:
        """Keep it, or fail as an audit that cannot be written."""
        if self.broken:
            raise AuditUnavailable("the chain cannot be written")
        self.begun.append(call)

    async def end(self, call: ModelCall, outcome: CallOutcome) -> None:
        """Keep it."""
        self.ended.append((call, outcome))
        self.one_ended.set()
