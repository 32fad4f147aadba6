"""What a running box really has, as it was found from inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Posture:
    """Proved controls, and plain facts."""

    controls: Mapping[str, bool]
    """``seccomp no_new_privileges no_network non_root pids_limit memory_limit read_only_root
    no_capabilities``, each True only where the probe saw it hold."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """For people and the audit: engine, runtime, kernel, image digest, uid, limits as found."""
