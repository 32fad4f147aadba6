"""From a service beside the box to the engine's create options: pure, each hardening a plain test.

A service shares the box's network and nothing else: it is reached at the box's own 127.0.0.1, and
like the box it has no way out. It keeps the few capabilities with which usual images set up their
data and step down from root.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.engine.labels import KIND, OWNER, SERVICE, SESSION
from orchestrator.schema.ids import Digest, SessionId

_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
_LOG = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}}
"""Kept small: its end is shown where the service fails to start."""
_SHM_SHARE = 4


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """One service; memory in bytes, times in seconds."""

    name: str
    image: str
    port: int
    """Its session begins when this port takes connections."""
    command: tuple[str, ...] = ()
    """Empty for the image's own."""
    environment: Mapping[str, str] = field(default_factory=dict)
    within_s: float = 60.0
    memory: int = 1024**3
    pids: int = 256


def service_options(
    spec: ServiceSpec, *, image: Digest, session: SessionId, box: str, owner: str, seccomp: str
) -> dict[str, Any]:
    """Return the body of the engine's create call; ``box`` is the box's container."""
    options: dict[str, Any] = {
        "Image": image,
        "Env": [f"{name}={value}" for name, value in spec.environment.items()],
        "OpenStdin": False,
        "Tty": False,
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {SESSION: str(session), OWNER: owner, KIND: SERVICE},
        "HostConfig": {
            "NetworkMode": f"container:{box}",
            "Init": True,
            "LogConfig": _LOG,
            "RestartPolicy": {"Name": "no"},
            "Privileged": False,
            "CapDrop": ["ALL"],
            "CapAdd": _CAPABILITIES,
            "SecurityOpt": ["no-new-privileges", f"seccomp={json.dumps(json.loads(seccomp))}"],
            "IpcMode": "private",
            "PidsLimit": spec.pids,
            "Memory": spec.memory,
            "MemorySwap": spec.memory,
            "ShmSize": spec.memory // _SHM_SHARE,
        },
    }
    if spec.command:
        options["Cmd"] = list(spec.command)
    return options
