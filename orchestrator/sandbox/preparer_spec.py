"""From the steps' needs to the engine's create options for the container in which they are taken.

It runs the image's own programs as root, as a build would, with less than a build has: the few
capabilities with which package managers set files up, the box's filter of system calls, no way to
gain more, and no network but that of a box beside it, which has a listener and no way out itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.engine.labels import KIND, OWNER, SESSION
from orchestrator.sandbox.container_spec import MASKED, READ_ONLY
from orchestrator.schema.ids import Digest, SessionId

PREPARER = "preparer"
"""The kind of container."""

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What dpkg, apt and useradd need: owners and modes, and stepping down to users of their own.

Without MKNOD, SYS_CHROOT, SETFCAP, NET_RAW, NET_BIND_SERVICE and AUDIT_WRITE, which a build has.
"""

_WAIT = "while read -r line; do :; done"
"""Ends with the host's end of its standard input, and with it everything in the container."""
_SHM = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class PreparerSpec:
    """One container; memory in bytes."""

    session: SessionId
    image: Digest
    owner: str
    seccomp: str
    """As text, or the path of a file where the engine takes that alone."""
    box: str | None = None
    """Container of the box whose listener is the way out; None for no network at all."""
    cpus: float = 2.0
    memory: int = 4 * 1024**3
    pids: int = 512
    runtime: str | None = None

    @property
    def marks(self) -> Mapping[str, str]:
        """Labels by which it is found and swept."""
        return {SESSION: str(self.session), OWNER: self.owner, KIND: PREPARER}


def preparer_options(spec: PreparerSpec) -> dict[str, Any]:
    """Return the whole body of the engine's create call."""
    host: dict[str, Any] = {
        "AutoRemove": True,
        "Init": True,
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        "Privileged": False,
        "NetworkMode": "none" if spec.box is None else f"container:{spec.box}",
        "CapDrop": ["ALL"],
        "CapAdd": list(CAPABILITIES),
        "SecurityOpt": ["no-new-privileges", f"seccomp={_seccomp(spec.seccomp)}"],
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "PidMode": "",
        "Devices": [],
        "MaskedPaths": list(MASKED),
        "ReadonlyPaths": list(READ_ONLY),
        "PidsLimit": spec.pids,
        "Memory": spec.memory,
        "MemorySwap": spec.memory,
        "NanoCpus": int(spec.cpus * 1_000_000_000),
        "ShmSize": _SHM,
    }
    if spec.runtime is not None:
        host["Runtime"] = spec.runtime
    return {
        "Image": spec.image,
        "Entrypoint": ["/bin/sh", "-c", _WAIT],
        "Cmd": [],
        "User": "0:0",
        "WorkingDir": "/",
        "StopSignal": "SIGKILL",
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": dict(spec.marks),
        "HostConfig": host,
    }


def _seccomp(profile: str) -> str:
    if profile.startswith("/"):
        return profile
    return json.dumps(json.loads(profile), separators=(",", ":"))
