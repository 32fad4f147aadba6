"""Path globs: ``*`` and ``?`` within a name, ``**`` over folders, ``{a,b}`` and ``[abc]``.

``X/**`` matches X itself too, so that replacing a folder counts as touching what is in it. A
relative glob starts at the workspace. Patterns are bounded so that matching stays linear in depth.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

MAX_PATH = 4096
"""Linux's own limit; longer paths are refused before matching."""
_MAX_DOUBLE_STARS = 2
"""Besides a trailing one; each adds a power of the path's depth."""
_MAX_STARS = 8
_MAX_READINGS = 4096
"""Names that a shell's pattern may stand for, all its parts together."""
_WILD = re.compile(r"[*?\[]")
_TOKEN = re.compile(r"\*\*/|/\*\*\Z|\*+|\?|\[[!^]?\]?[^]]*\]|\{[^{}]*\}|\\?[\s\S]")
_INVISIBLE = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


@lru_cache(maxsize=2048)
def name_glob(glob: str) -> re.Pattern[str]:
    """Return the expression for a name (no path) in which ``*`` and ``?`` stand for anything."""
    pieces = re.findall(r"\*+|\?|[^*?]+", glob)
    wild = {"?": r"[\s\S]"}
    source = "".join(
        r"[\s\S]*" if piece[0] == "*" else wild.get(piece) or re.escape(piece) for piece in pieces
    )
    return re.compile(source + r"\Z")


def check_glob(pattern: str) -> None:
    """Raise ValueError for a glob that is malformed or too costly to match."""
    if "\x00" in pattern:
        raise ValueError("a path glob holds a NUL")
    if pattern in {"", "/", "~", "~/"} or "//" in pattern:
        raise ValueError(f"path glob {pattern!r}: expected names separated by single slashes")
    if any(part in {".", ".."} for part in pattern.split("/")):
        raise ValueError(f"path glob {pattern!r}: '.' and '..' are not used in globs")
    if pattern.count("**/") > _MAX_DOUBLE_STARS or pattern.count("*") > _MAX_STARS:
        raise ValueError(f"path glob {pattern!r}: too many stars; split it into several globs")
    try:
        re.compile(_regex(pattern))
    except re.error as err:
        raise ValueError(f"path glob {pattern!r}: {err.msg}") from err


def check_relative_glob(pattern: str) -> None:
    """Raise ValueError for a glob that leaves the workspace."""
    if pattern.startswith(("/", "~")):
        raise ValueError(f"path glob {pattern!r}: expected one relative to the workspace")


def normal_path(path: str, base: str) -> str:
    """Return the path absolute and without ``.``, ``..`` and doubled slashes, by its text alone."""
    joined = posixpath.normpath(posixpath.join(base, path))
    return "/" + joined.lstrip("/")


def within(path: str, root: str) -> bool:
    """Say whether a normal path is ``root`` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def folded(path: str) -> str:
    """Return the path as a file system that ignores case and invisible characters would see it."""
    if path.isascii():
        return path.lower()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", path)).casefold()


@dataclass(frozen=True, slots=True)
class GlobSet:
    """Globs compiled into one expression, matched against normal absolute paths."""

    patterns: tuple[str, ...]
    whole: re.Pattern[str] | None
    single: tuple[re.Pattern[str], ...]
    fold: bool
    """Ignore case and invisible characters: right wherever a match makes things stricter."""

    def match(self, path: str) -> str | None:
        """Return the first glob that matches, or None."""
        if self.whole is None:
            return None
        text = folded(path) if self.fold else path
        if not self.whole.match(text):
            return None
        pairs = zip(self.patterns, self.single, strict=True)
        return next((glob for glob, single in pairs if single.match(text)), None)

    def may_match(self, pattern: str) -> str | None:
        """Return the first glob that matches what a shell may make of a path with ``* ? [`` in it.

        The names that the globs spell out are tried. As in bash, a name that begins with a dot is
        only met by a pattern that does; other names are tried below such a folder alone.
        """
        parts = (folded(pattern) if self.fold else pattern).split("/")
        names = self._names()
        choices: list[list[str]] = []
        for at, part in enumerate(parts):
            hidden = any(before.startswith(".") for before in parts[:at])
            choices.append([part])
            if _WILD.search(part):
                choices[-1] += [
                    name
                    for name in names
                    if (part[0] == "." if name[0] == "." else hidden) and fnmatchcase(name, part)
                ]
        readings = itertools.islice(itertools.product(*choices), _MAX_READINGS)
        found = (self.match("/".join(reading)) for reading in readings)
        return next((glob for glob in found if glob), None)

    def _names(self) -> list[str]:
        names = {name for glob in self.patterns for name in glob.split("/")}
        return sorted(name for name in names if name and not set(name) & set("*?[{"))


def folders_above(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return globs for the named folders that what ``patterns`` match lies in."""
    parents: dict[str, None] = {}
    for pattern in patterns:
        parts = pattern.split("/")
        for count in range(1, len(parts)):
            if "*" not in parts[count - 1] and parts[count - 1] not in {"", "~"}:
                parents["/".join(parts[:count])] = None
    return tuple(parents)


def compile_globs(patterns: Iterable[str], *, fold: bool, workspace: str, home: str) -> GlobSet:
    """Return the globs ready to match."""
    globs = tuple(dict.fromkeys(patterns))
    sources = [_anchored(glob, workspace=workspace, home=home, fold=fold) for glob in globs]
    whole = re.compile("(?:" + "|".join(sources) + r")\Z") if sources else None
    single = tuple(re.compile(source + r"\Z") for source in sources)
    return GlobSet(globs, whole, single, fold)


def _anchored(glob: str, *, workspace: str, home: str, fold: bool) -> str:
    if glob.startswith("/"):
        root, rest = "", glob
    elif glob.startswith("~/"):
        root, rest = home, glob[1:]
    else:
        root, rest = workspace, "/" + glob
    if fold:
        root, rest = folded(root), folded(rest)
    return re.escape(root.rstrip("/")) + _regex(rest)


def _regex(glob: str) -> str:
    if glob in {"**", "/**"}:
        return r"(?:/.*)?" if glob.startswith("/") else ".*"
    return "".join(_piece(part) for part in _TOKEN.findall(glob))


def _piece(part: str) -> str:
    if part == "**/":
        return r"(?:[^/]+/)*"
    if part == "/**":
        return r"(?:/[\s\S]*)?"
    if part[0] == "*":
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if part[0] == "[" and len(part) > 2:
        negated = part[1] in "!^"
        body = part[2:-1] if negated else part[1:-1]
        body = body.replace("\\", "\\\\").replace("[", "\\[").replace("/", "")
        return f"(?!/)[{'^' if negated else ''}{body}]"
    if part[0] == "{" and len(part) > 1:
        options = part[1:-1].split(",")
        return "(?:" + "|".join(_regex(option) for option in options) + ")"
    return re.escape(part[-1])
