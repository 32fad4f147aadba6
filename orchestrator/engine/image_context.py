"""The sandbox image's build context as bytes, and the name that its content gives the image.

Pure but for reading files; ``images`` sends what is made here to the engine.
"""

from __future__ import annotations

import hashlib
import io
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
    files = [_read(folder, path) for part in _PARTS for path in _files(folder / part)]
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


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for child in sorted(path.iterdir()):
            if child.name not in _IGNORED:
                yield from _files(child)
    elif path.suffix != ".pyc":
        yield path


def _read(folder: Path, path: Path) -> ContextFile:
    try:
        data, mode = path.read_bytes(), path.stat().st_mode
    except OSError as err:
        raise EngineError(f"sandbox image: cannot read {path}: {err.strerror}") from err
    return ContextFile(path.relative_to(folder).as_posix(), data, bool(mode & 0o100))


def _host_certificates(folder: Path) -> list[ContextFile]:
    files = []
    for path in sorted(folder.rglob("*.crt")) if folder.is_dir() else ():
        found = _read(folder, path)
        if b"PRIVATE KEY" in found.data:
            raise EngineError(
                f"sandbox image: {path} holds a private key and would be readable in every box",
                hint="move the key out of the certificate file",
            )
        files.append(ContextFile("ca/host-" + found.name.replace("/", "-"), found.data))
    return files
