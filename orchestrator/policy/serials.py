"""The highest serial seen of each signed layer, so that an old signed policy cannot come back.

Kept in the host's state. Who may delete that file could forget what was seen, but still not change
what is installed: that takes root, and a signature.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import PolicyError
from orchestrator.named_file import opened_regular
from orchestrator.policy.signature import SUFFIX, PolicySignature, SignedLayer

_FILE = "policy-serials.json"


class _Seen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    serial: int
    digest: str


class _Memory(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    version: Literal[1] = 1
    layers: dict[SignedLayer, _Seen] = {}


def check_serial(signed: PolicySignature, *, file: str, state: Path) -> None:
    """Refuse a serial below the highest seen, and another policy under the same one."""
    seen = _load(state / _FILE).layers.get(signed.layer)
    if seen is None or signed.serial > seen.serial:
        return
    beside = file + SUFFIX
    if signed.serial < seen.serial:
        raise PolicyError(
            f"{beside}: expected serial {seen.serial} or higher, which was seen here before, "
            f"got {signed.serial}: an older policy was put back",
            hint="install the newest policy; to go back on purpose, sign the old text again "
            f"with --serial {seen.serial + 1}",
        )
    if signed.digest != seen.digest:
        raise PolicyError(
            f"{beside}: serial {signed.serial} was seen here for another policy: "
            f"expected {seen.digest}, got {signed.digest}",
            hint=f"sign it again with --serial {seen.serial + 1}",
        )


def remember_serial(signed: PolicySignature, *, state: Path) -> None:
    """Keep a serial that is higher than what was seen; PolicyError where it cannot be kept."""
    path = state / _FILE
    seen = _load(path).layers.get(signed.layer)
    if seen is not None and seen.serial >= signed.serial:
        return
    try:
        with _locked(state):
            memory = _load(path)
            seen = memory.layers.get(signed.layer)
            if seen is None or seen.serial < signed.serial:
                memory.layers[signed.layer] = _Seen(serial=signed.serial, digest=signed.digest)
                _save(path, memory)
    except OSError as err:
        raise PolicyError(
            f"{path}: the serial of the {signed.layer} policy cannot be kept: {err.strerror}",
            hint="without it an old policy could come back; make the state folder writable",
        ) from err


def _load(path: Path) -> _Memory:
    try:
        with opened_regular(path) as file:
            return _Memory.model_validate_json(file.read())
    except FileNotFoundError:
        return _Memory()
    except OSError as err:
        raise PolicyError(f"{path}: cannot be read: {err.strerror}") from err
    except ValidationError as err:
        raise PolicyError(
            f"{path}:1: expected the serials of signed policies, got something else",
            hint=f"if nobody put an old policy back, forget what was seen: rm {path}",
        ) from err


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(state / f"{_FILE}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _save(path: Path, memory: _Memory) -> None:
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(memory.model_dump_json(indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
