"""A strict reading of a tar stream's members, one after another. Pure but for the stream.

The standard library's reader takes a broken header for the end of the archive; here a cut or
bent stream is an error, so that missing files are never mistaken for deleted ones.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.errors import WorkspaceError

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 256 * 1024
_MAX_EXTENSION = 1024 * 1024
"""Bytes of an extended header; a path and a link's target need a few thousand."""
_LONG_NAME, _LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK


class TarCut(WorkspaceError):  # noqa: N818 - reads as what it is
    """Raised when the stream ends, or stops being tar, before its end mark."""


@dataclass(slots=True)
class TarStream:
    """Bytes in, members out; a member's data is read or skipped before the next is asked for."""

    chunks: Iterator[bytes]
    allowed: int
    """Bytes of the whole stream after which it is a bomb."""
    _buffer: bytes = b""
    _taken: int = 0
    _left: int = 0
    _padding: int = field(default=0)

    def members(self) -> Iterator[tarfile.TarInfo]:
        """Yield each header with its extensions applied, up to the end mark."""
        extensions: dict[str, str] = {}
        while (header := self._header()) is not None:
            if header.type in {tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE}:
                extensions |= _pax_records(self._extension(header))
            elif header.type in {_LONG_NAME, _LONG_LINK}:
                key = "path" if header.type == _LONG_NAME else "linkpath"
                extensions[key] = _text(self._extension(header).rstrip(b"\0"))
            elif header.type == tarfile.XGLTYPE:
                raise TarCut("the box's archive has a global header, which no engine writes")
            else:
                self._begin(_extended(header, extensions))
                extensions = {}
                yield header
                for _ in self.data():
                    """What the caller did not want is passed over."""

    def data(self) -> Iterator[bytes]:
        """Yield the current member's data."""
        while self._left:
            piece = self._take(min(self._left, _CHUNK))
            self._left -= len(piece)
            yield piece
        self._exactly(self._padding)
        self._padding = 0

    def _begin(self, header: tarfile.TarInfo) -> None:
        self._left = header.size if header.isreg() else 0
        if self._left > self.allowed:
            # Before any of it is waited for.
            raise self._too_long()
        self._padding = -self._left % _BLOCK

    def _header(self) -> tarfile.TarInfo | None:
        block = self._exactly(_BLOCK)
        if block == bytes(_BLOCK):
            return None
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as err:
            raise TarCut(f"the box's archive has a broken header: {err}") from err
        if header.size < 0:
            raise TarCut(f"the box's archive has a member of {header.size} bytes")
        return header

    def _extension(self, header: tarfile.TarInfo) -> bytes:
        if header.size > _MAX_EXTENSION:
            raise TarCut(f"the box's archive has a header of {header.size} bytes")
        data = self._exactly(header.size)
        self._exactly(-header.size % _BLOCK)
        return data

    def _exactly(self, count: int) -> bytes:
        pieces = []
        while count:
            pieces.append(self._take(count))
            count -= len(pieces[-1])
        return b"".join(pieces)

    def _take(self, most: int) -> bytes:
        if not self._buffer:
            self._buffer = next(self.chunks, b"")
            self._taken += len(self._buffer)
            if not self._buffer:
                raise TarCut("the box's archive ended before its end mark")
            if self._taken > self.allowed:
                raise self._too_long()
        piece, self._buffer = self._buffer[:most], self._buffer[most:]
        return piece

    def _too_long(self) -> WorkspaceError:
        return WorkspaceError(
            f"the box holds more than {self.allowed} bytes; nothing was read back",
            hint="go on in the session and remove large files there, or drop it all with "
            "`glovebox discard` and its id",
        )


def _extended(header: tarfile.TarInfo, extensions: dict[str, str]) -> tarfile.TarInfo:
    """Apply what extended headers say; raises TarCut for what could mean two things."""
    if any(key.startswith("GNU.sparse") for key in extensions):
        raise TarCut(f"the box's archive has a sparse member: {header.name!r}")
    header.name = extensions.get("path", header.name)
    header.linkname = extensions.get("linkpath", header.linkname)
    size = extensions.get("size", str(header.size))
    if not (size.isascii() and size.isdigit()):
        raise TarCut(f"the box's archive has a member of {size!r} bytes")
    header.size = int(size)
    return header


def _pax_records(data: bytes) -> dict[str, str]:
    """Return an extended header's records: length, space, key, equals sign, value, line feed."""
    records: dict[str, str] = {}
    while data:
        digits, space, _ = data.partition(b" ")
        if not space or not digits.isdigit() or not 0 < int(digits) <= len(data):
            raise TarCut("the box's archive has a broken extended header")
        record, data = data[len(digits) + 1 : int(digits)], data[int(digits) :]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise TarCut("the box's archive has a broken extended header")
        records[_text(key)] = _text(value[:-1])
    return records


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
