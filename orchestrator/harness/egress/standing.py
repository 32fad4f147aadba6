"""Which remembered yeses stand now: read again whenever anything changed where they are kept."""

from __future__ import annotations

import time
from datetime import datetime

from orchestrator.confirmation.gate import utc_now
from orchestrator.confirmation.grant import Grant
from orchestrator.confirmation.grants import Grants
from orchestrator.errors import ConfigError

SETTLED_NS = 1_000_000_000
"""A folder that changed less than a second ago may change again within one tick of its clock."""


class StandingGrants:
    """The grants as one session sees them; where they cannot be read, none stands."""

    def __init__(self, grants: Grants) -> None:
        """Look at ``grants``; nothing is read yet."""
        self._grants = grants
        self._stamp: int | None = -1
        self._read_ns = 0
        self._found: dict[str, Grant] = {}

    def stands(self, grant: str, *, now: datetime | None = None) -> bool:
        """Say whether a yes still holds."""
        self._refresh()
        found = self._found.get(grant)
        return found is not None and found.status(now or utc_now()) == "stands"

    def _refresh(self) -> None:
        try:
            stamp = self._grants.stamp()
            settled = stamp is None or self._read_ns - stamp > SETTLED_NS
            if stamp == self._stamp and settled:
                return
            self._read_ns = time.time_ns()
            self._found = {one.id: one for one in self._grants.all()}
            self._stamp = stamp
        except (ConfigError, OSError):
            self._found, self._stamp = {}, -1
