"""Tar streams as no honest engine would write them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

from orchestrator.workspace.node import Limits, Node
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.tar_in import TarIn


def member(name: str, **fields: object) -> tarfile.TarInfo:
    """Return one header; unset fields are those of an empty regular file."""
    info = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return an archive of these members below ``workspace``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member("workspace", type=tarfile.DIRTYPE, mode=0o755))
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def chunks(data: bytes, size: int = 1000) -> Iterator[bytes]:
    """Yield the bytes in pieces that end anywhere."""
    for start in range(0, len(data), size):
        yield data[start : start + size]


def read(data: bytes, spool: Spool, limits: Limits | None = None) -> dict[str, Node]:
    """Read an archive as it would be read after a session, with nothing known beforehand."""
    spool.clear()
    return TarIn("workspace", limits or Limits(), spool, lambda _: "").read(chunks(data))
