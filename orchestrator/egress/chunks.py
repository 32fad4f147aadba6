"""What a chunked body's own lines must be: sizes and ends that every reader finds alike.

h11 decodes the body; this looks at the lines between, where h11 lets extensions hold anything.
"""

from __future__ import annotations

import re

from orchestrator.egress.strict import MessageError, check_lines

MAX_LINE = 8 * 1024
"""Bytes of one size with its extensions; nobody uses any."""
MAX_TRAILERS = 64 * 1024

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_QUOTED = rb'"[\t\x20\x21\x23-\x5b\x5d-\x7e]*"'
_SIZE_LINE = re.compile(
    rb"([0-9A-Fa-f]{1,15})( *)(?:;%s(?:=(?:%s|%s))?)*\r\n" % (_TOKEN, _TOKEN, _QUOTED)
)


class ChunkCheck:
    """Follows a chunked body as it arrives, each byte once."""

    def __init__(self, *, padded: bool = False) -> None:
        """Begin before the first size; where they may be ``padded``, blanks may follow them.

        Some servers keep room so for a longer one. Clients do not, and readers differ on it.
        """
        self._padded = padded
        self._line = bytearray()
        self._left = 0
        """Bytes of the present chunk that are still to come, with its CRLF."""
        self._last = False
        self.ended = False
        self.trailers = False
        """Fields came after the last chunk."""

    def feed(self, data: bytes) -> None:
        """Look at what comes next; MessageError for what is not one chunked body."""
        at = 0
        while at < len(data) and not self.ended:
            if self._left > 2:
                skipped = min(self._left - 2, len(data) - at)
                self._left -= skipped
                at += skipped
                continue
            end = data.find(b"\n", at) + 1 or len(data)
            self._line += data[at:end]
            at = end
            self._check_length()
            if self._line.endswith(b"\n"):
                self._whole_line(bytes(self._line))
                self._line.clear()

    def _check_length(self) -> None:
        if len(self._line) > (MAX_TRAILERS if self._last else MAX_LINE):
            raise MessageError("a line of the body's framing is too long")

    def _whole_line(self, line: bytes) -> None:
        if self._last:
            check_lines(line)
            self.ended = line == b"\r\n"
            self.trailers = self.trailers or not self.ended
        elif self._left:
            if line != b"\r\n":
                raise MessageError("a chunk does not end where its size says")
            self._left = 0
        else:
            found = _SIZE_LINE.fullmatch(line)
            if found is None or (found[2] and not self._padded):
                raise MessageError("a chunk's size is no plain hexadecimal number")
            size = int(found[1], 16)
            self._last = size == 0
            self._left = size + 2 if size else 0
