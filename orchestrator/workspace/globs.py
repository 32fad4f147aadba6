"""The path patterns of policy, as a workspace holds them: at any depth, whatever the case.

The language is that of ``orchestrator.policy.globs``. There a relative pattern starts at the
workspace; here ``.git/hooks/**`` holds in every nested repository too, which is only stricter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.errors import UsageError
from orchestrator.policy.globs import (
    GlobSet,
    check_glob,
    check_relative_glob,
    compile_globs,
    folded,
)

_ROOT = "/workspace"


@dataclass(frozen=True, slots=True)
class PathGlobs:
    """A set of patterns, compiled once; paths are relative, with ``/`` between components."""

    patterns: tuple[str, ...]
    _paths: GlobSet
    _names: GlobSet
    _any_name: re.Pattern[str] | None

    def match(self, path: str) -> bool:
        """True where ``path`` is in the set."""
        return self._paths.match(f"{_ROOT}/{path}") is not None

    def may_end_in(self, name: str) -> bool:
        """Return False only where no path with this last component can be the first to match.

        One cheap look a name, so that a scan of a large tree seldom matches a whole path.
        """
        whole = self._names.whole
        if whole is None:
            return False
        text = name.lower() if name.isascii() else folded(name)
        return whole.match(f"/{text}") is not None

    def may_meet(self, names: Sequence[str]) -> bool:
        """Return False only where ``may_end_in`` is False for each of the names; one look for all."""
        if self._any_name is None:
            return False
        # No name holds a slash, and each name's pattern begins with one.
        text = "/".join(("", *names))
        text = text.lower() if text.isascii() else "/".join(("", *map(folded, names)))
        return self._any_name.search(text) is not None

    def covers(self, path: str) -> bool:
        """True where ``path`` or a directory above it is in the set."""
        parts = path.split("/")
        return any(self.match("/".join(parts[: count + 1])) for count in range(len(parts)))


def path_globs(patterns: Iterable[str], *, anywhere: bool = True) -> PathGlobs:
    """Compile patterns; an empty set matches nothing.

    Without ``anywhere`` they start at the top and mind the case, as a person's choice should.
    """
    given = tuple(dict.fromkeys(patterns))
    for pattern in given:
        check_relative_glob(pattern)
        check_glob(pattern)
    placed = [f"**/{p}" if anywhere and not p.startswith("**/") else p for p in given]
    names = compile_globs(map(_last_name, placed), fold=anywhere, workspace="/", home="/")
    each = "|".join(single.pattern.removesuffix(r"\Z") for single in names.single)
    return PathGlobs(
        given,
        compile_globs(placed, fold=anywhere, workspace=_ROOT, home=_ROOT),
        names,
        re.compile(f"(?:{each})(?=/|\\Z)") if each else None,
    )


def chosen_globs(globs: Iterable[str], flag: str) -> PathGlobs | None:
    """Return what a person named with a flag, None where nothing; UsageError when malformed.

    A pattern without a slash holds at any depth, one with a slash from the top.
    """
    plain = [glob.removeprefix("./").rstrip("/") for glob in globs]
    if not plain:
        return None
    try:
        return path_globs([p if "/" in p else f"**/{p}" for p in plain], anywhere=False)
    except ValueError as err:
        raise UsageError(f"{flag}: {err}", hint="paths are relative to the project") from err


def _last_name(pattern: str) -> str:
    """Return a pattern for the first name that can complete a match."""
    stem = pattern.removesuffix("/**")
    # A brace may hold a slash; then any name may complete the match.
    return "*" if "{" in stem or stem.endswith("**") else stem.rsplit("/", 1)[-1]
