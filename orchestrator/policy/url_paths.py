"""Every reading that a server may have of a URL's path, so that all of them can be judged.

Servers and the proxies before them decode once or twice or not at all, take a backslash for a
slash, cut ``;parameters``, merge slashes and resolve dots, in any order. What is judged is the
closure of one path under all of that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

BAD_PATH = "bad-path"
"""Rule of a refusal: no path, or one that servers read too differently."""

_MAX_PATH = 8192
_MAX_SEGMENTS = 200
"""A glob with two ``**`` takes the square of it."""
_MAX_READINGS = 64
_MAX_TOTAL = 65_536
"""Characters of all readings together: a box must not keep the host busy with one path."""
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_STRUCTURAL = frozenset(b"/\\;.%?#")
"""Bytes that mean something in a path: whether they are decoded makes another reading."""
_OVERLONG = re.compile(rb"[\xc0\xc1\xf5-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]")
"""Bytes that no UTF-8 text has, and that lax decoders take for a dot or a slash."""
_BROKEN = re.compile("%(?![0-9A-Fa-f]{2})")
_LOOSE = re.compile(
    "(?:" + "|".join(f"%{byte:02X}" for byte in range(256) if byte not in _STRUCTURAL) + ")+"
)


class PathRefused(ValueError):  # noqa: N818 - it tells what was done with it
    """A path that is not judged, with a reason that is safe to show."""


@lru_cache(maxsize=512)
def readings(path: str) -> tuple[str, ...]:
    """Return all readings of a path as it was sent, without its query; raises PathRefused.

    What is escaped without need is decoded in each of them. Slashes, backslashes, dots, percent
    signs and the like stay escaped, in capitals, in the reading of a server that keeps them so.
    """
    if not path.startswith("/"):
        raise PathRefused("the path does not begin with a slash")
    if len(path) > _MAX_PATH:
        raise PathRefused(f"the path has more than {_MAX_PATH} characters")
    if not path.isascii():
        raise PathRefused("the path holds characters that are not ASCII")
    if _BROKEN.search(path):
        raise PathRefused("the path holds a broken escape")
    if "#" in path or "?" in path:
        raise PathRefused("the path holds a mark that ends it")
    if len(re.findall(r"[/\\]|%2[fF]|%5[cC]", path)) > _MAX_SEGMENTS:
        raise PathRefused(f"the path has more than {_MAX_SEGMENTS} parts")
    found = [_plain(path)]
    known = {*found}
    for reading in found:
        _refuse_controls(reading)
        for step in _STEPS:
            other = step(reading)
            if other not in known:
                known.add(other)
                found.append(other)
        if len(found) > _MAX_READINGS or len(found) * len(path) > _MAX_TOTAL + len(path):
            raise PathRefused("the path can be read in too many ways")
    return tuple(found)


def readings_of(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the readings of several paths that one request may be taken for; raises PathRefused."""
    return tuple(dict.fromkeys(reading for path in paths for reading in readings(path)))


def plain_glob(glob: str) -> str:
    """Return a rule's path glob with escapes as readings have them; raises ValueError."""
    if not glob.startswith("/"):
        raise ValueError(f"path glob {glob!r}: expected one that begins with a slash")
    if _BROKEN.search(glob):
        raise ValueError(f"path glob {glob!r}: broken escape; a percent sign is written %25")
    if "#" in glob:
        raise ValueError(f"path glob {glob!r}: a path ends before '#'")
    plain = _plain(glob)
    for mark in "*?[]{}":
        if plain.count(mark) != glob.count(mark):
            raise ValueError(f"path glob {glob!r}: write [{mark}] for the character itself")
    return plain


def _plain(text: str) -> str:
    """Decode what is escaped without need; runs of bytes together, as UTF-8."""

    def decoded(run: re.Match[str]) -> str:
        data = bytes.fromhex(run[0].replace("%", ""))
        if _OVERLONG.search(data):
            raise PathRefused("the path holds an escape that is not UTF-8")
        return data.decode("utf-8", "surrogateescape")

    return _LOOSE.sub(decoded, _ESCAPE.sub(_capital, text))


def _capital(escape: re.Match[str]) -> str:
    return escape[0].upper()


def _refuse_controls(reading: str) -> None:
    if any(unicodedata.category(char) == "Cc" for char in reading):
        raise PathRefused("the path holds a control character")


def _decode(path: str) -> str:
    return _plain(_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), path))


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _without_parameters(path: str) -> str:
    return re.sub(";[^/]*", "", path)


def _cut(path: str) -> str:
    return re.split("[?#]", path, maxsplit=1)[0] or "/"


def _merged(path: str) -> str:
    return re.sub("//+", "/", path)


def _resolved(path: str) -> str:
    """Resolve dot segments as RFC 3986 does; a dot with blanks behind is one to some servers."""
    parts: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        bare = segment.rstrip(" ")
        if bare == "..":
            del parts[-1:]
        elif bare != ".":
            parts.append(segment)
    if segments[-1].rstrip(" ") in {".", ".."}:
        parts.append("")
    return "/" + "/".join(parts)


def _compatible(path: str) -> str:
    """Take characters for the plain ones that they stand for."""
    return unicodedata.normalize("NFKC", path)


_STEPS: tuple[Callable[[str], str], ...] = (
    _decode,
    _slashes,
    _without_parameters,
    _cut,
    _merged,
    _resolved,
    _compatible,
)
