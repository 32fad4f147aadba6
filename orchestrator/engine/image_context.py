"""The sandbox image's build context as bytes, and the name that its content gives the image.

Pure but for reading files; ``images`` sends what is made here to the engine.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import EngineError

REPOSITORY = "glovebox/sandbox"

HOST_CERTIFICATES = Path("/usr/local/share/ca-certificates")
"""Where Debian and its kin keep the authorities an administrator added."""

_PARTS = ("Dockerfile", "prepare-root.sh", "runtime.py", "ca", "toolserver")
"""What the Dockerfile may copy; the scripts for the host stay out of the image and its name."""

_IGNORED = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file of the context."""

    name: str
    data: bytes
    executable: bool = False


def read_context(folder: Path, *, certificates: Path = HOST_CERTIFICATES) -> list[ContextFile]:
    """Return the context's files, the host's extra authorities among them, sorted by name."""
    files = [
        _read(path, name) for part in _PARTS for path, name in _files(f"{folder}/{part}", part)
    ]
    files += _host_certificates(certificates)
    return sorted(files, key=lambda file: file.name)


def image_name(files: list[ContextFile]) -> str:
    """Return the image's name; equal content gives an equal name on every machine."""
    digest = hashlib.sha256()
    for file in files:
        for field in (file.name.encode(), b"x" if file.executable else b"-", file.data):
            digest.update(len(field).to_bytes(8, "big") + field)
    return f"{REPOSITORY}:{digest.hexdigest()[:12]}"


def pack_context(files: list[ContextFile]) -> bytes:
    """Return the context as a tar; times and owners are constants, so layers can be reused."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in ("ca", "toolserver"):
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            archive.addfile(entry)
        for file in files:
            entry = tarfile.TarInfo(file.name)
            entry.size = len(file.data)
            entry.mode = 0o755 if file.executable else 0o644
            archive.addfile(entry, io.BytesIO(file.data))
    return buffer.getvalue()


def sandbox_image_name(folder: Path, *, certificates: Path = HOST_CERTIFICATES) -> str:
    """Return the name the present sources give the image, without asking any engine."""
    return image_name(read_context(folder, certificates=certificates))


def _files(path: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of each file; every session's start reads them, so without ado."""
    try:
        children = sorted(os.listdir(path))  # noqa: PTH208 - as objects, paths take twice as long
    except NotADirectoryError:
        if not name.endswith(".pyc"):
            yield path, name
        return
    except OSError as err:
        raise EngineError(f"sandbox image: cannot read {path}: {err.strerror}") from err
    for child in children:
        if child not in _IGNORED:
            yield from _files(f"{path}/{child}", f"{name}/{child}")


def _read(path: str, name: str) -> ContextFile:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            data, mode = file.readall(), os.fstat(file.fileno()).st_mode
    except OSError as err:
        raise EngineError(f"sandbox image: cannot read {path}: {err.strerror}") from err
    return ContextFile(name, data, bool(mode & 0o100))


def _host_certificates(folder: Path) -> list[ContextFile]:
    files = []
    for path in sorted(folder.rglob("*.crt")) if folder.is_dir() else ():
        found = _read(str(path), path.relative_to(folder).as_posix())
        if b"PRIVATE KEY" in found.data:
            raise EngineError(
                f"sandbox image: {path} holds a private key and would be readable in every box",
                hint="move the key out of the certificate file",
            )
        files.append(ContextFile("ca/host-" + found.name.replace("/", "-"), found.data))
    return files
