"""Judging an engine's parts by the known flaws: pure; ``flaws`` holds the data.

A version that is too old by its number may carry the fix all the same, as distributions backport.
Then, in this order: the table of fixed revisions, the changelog of that very package where this
machine has it. What neither shows is ``unknown``, and that is no pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.engine.flaws import FLAWS, Flaw

State = Literal["fixed", "affected", "unknown"]

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-~.]*rc[-.]?(\d+))?")
_RELEASED = 10**6
"""The release candidate that a release counts as: later than all of them."""
_PACKAGED = re.compile(r"\+ds|~ds|dfsg|deb\d|ubuntu|\.(el|fc|amzn|suse|lp)\d|-\d+\.|-r\d|-\d+$")
"""What a distribution's revision looks like."""
_COMMIT = re.compile(r"-g[0-9a-f]{7,}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One flaw of one component here."""

    flaw: Flaw
    state: State
    why: str


def judge_components(
    components: Mapping[str, str], changelogs: Mapping[str, str], *, runtime: str
) -> list[Judgement]:
    """Return every flaw that is not shown to be fixed in the runtime in use and in containerd.

    ``components`` maps names to versions as the engine tells them, ``changelogs`` names to the text
    of the installed package's changelog. A runtime whose version is not told is unknown as a whole.
    """
    found = []
    for name in dict.fromkeys((runtime, "containerd")):
        version = components.get(name, "")
        for flaw in FLAWS:
            if flaw.component == name:
                judged = judge(flaw, version, changelogs.get(name, ""))
                if judged.state != "fixed" and (version or name == runtime):
                    found.append(judged)
    return found


def judge(flaw: Flaw, version: str, changelog: str) -> Judgement:
    """Return whether a component of this version still has the flaw."""
    number = _number(version)
    if number is None:
        return Judgement(flaw, "unknown", "the engine does not tell the version")
    if _has_fix(number, [fixed for fixed in map(_number, flaw.fixed) if fixed]):
        return Judgement(flaw, "fixed", f"{version} has the fix")
    least = f"{version}; fixed in {', '.join(flaw.fixed)}"
    if not is_packaged(version):
        return Judgement(flaw, "affected", least)
    for mark, revision in flaw.backports.items():
        if mark in version:
            if _revision(version) >= _revision(revision):
                return Judgement(flaw, "fixed", f"{version}: fixed from {revision} on")
            return Judgement(flaw, "affected", f"{version}; fixed in {revision}")
    if re.search(rf"\b{re.escape(flaw.id)}\b", changelog):
        return Judgement(flaw, "fixed", f"the changelog of {version} names it")
    if changelog:
        return Judgement(flaw, "affected", f"{least}; the package's changelog does not name it")
    return Judgement(flaw, "unknown", f"{least}, or in a revision of the distribution")


def is_packaged(version: str) -> bool:
    """True for a distribution's own revision, which may carry fixes that its number does not tell."""
    return bool(_PACKAGED.search(version)) and not _COMMIT.search(version)


def summary(judgements: Iterable[Judgement]) -> str:
    """Return one line that names each flaw once, by state."""
    parts = []
    for state, word in (("affected", "has"), ("unknown", "may have")):
        names = [
            f"{item.flaw.component} {item.flaw.id}" for item in judgements if item.state == state
        ]
        if names:
            parts.append(f"{word} {', '.join(names)}")
    return "; ".join(parts)


def _has_fix(number: tuple[int, ...], fixed: list[tuple[int, ...]]) -> bool:
    """True at or above the fix of its own branch, or of the newest."""
    if number >= fixed[-1]:
        return True
    return any(number[:2] == first[:2] and number >= first for first in fixed)


def _number(version: str) -> tuple[int, ...] | None:
    found = _VERSION.match(version.partition(":")[2] or version)
    if found is None:
        return None
    major, minor, patch, candidate = found.groups()
    return (int(major), int(minor), int(patch or 0), int(candidate or _RELEASED))


def _revision(version: str) -> list[tuple[list[int], int]]:
    """Return a key that sorts as Debian sorts: numbers by value, ``~`` before the end."""
    pairs = re.findall(r"(\D*)(\d+)", version)
    key = [([_weight(letter) for letter in word] + [0], int(number)) for word, number in pairs]
    return [*key, ([0], 0)]


def _weight(letter: str) -> int:
    if letter == "~":
        return -1
    return ord(letter) if letter.isalpha() else ord(letter) + 256
