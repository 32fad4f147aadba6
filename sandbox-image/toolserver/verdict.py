"""What an exact look at the disk means, and the words for it; pure, ``watch`` acts on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_HOME_HINT = "see `glovebox home list` and `glovebox home rm` on the host"
SHARE = 20
"""A place that holds less than this part of the whole is not worth its name."""
UNMEASURED = "how much was written could not be measured in time"


class Use(NamedTuple):
    """What the box has on disk, sizes in bytes."""

    counted: int
    """On file systems shared with the host; of it ``before`` was in the home at the start."""
    before: int
    files: int
    unsure: tuple[str, ...]
    """What could not be looked into."""
    missing: int
    """Free space that went and was not counted; it is the box's where something is unsure."""
    missing_files: int
    largest: tuple[tuple[str, int], ...] = ()
    """The places that hold most of it, and how much."""
    fullest: tuple[tuple[str, int], ...] = ()
    """Those with most names, and how many."""

    @property
    def size(self) -> int:
        """Bytes that the box is held to have used."""
        return self.counted + self.missing

    @property
    def names(self) -> int:
        """Files that the box is held to have made or changed."""
        return self.files + self.missing_files


def use_of(answer: dict[str, Any], *, suspected: int, suspected_files: int) -> Use | None:
    """Return what a worker's count and the free space say together; None for no count.

    Where all could be counted, the rest was written by others of the host.
    """
    size = answer.get("size")
    if not isinstance(size, int):
        return None
    unsure = tuple(answer["unsure"])
    missing = max(0, suspected - size) if unsure else 0
    missing_files = max(0, suspected_files - answer["files"]) if unsure else 0
    return Use(
        size,
        answer["before"],
        answer["files"],
        unsure,
        missing,
        missing_files,
        largest=tuple((place, held) for place, held in answer["largest"]),
        fullest=tuple((place, count) for place, count in answer["fullest"]),
    )


def disk_words(use: Use, *, own: int, budget: int, assumed: int = 0) -> str:
    """Return why the disk budget counts as used up; ``assumed`` stands for a closed home."""
    parts = [f"{shown_size(use.size + own)} of {shown_size(budget)}"]
    missing = max(0, use.missing - assumed)
    names = ", ".join(use.unsure)
    if missing:
        parts.append(
            f"{shown_size(missing)} of free space went while {names} could not be looked into"
        )
    if assumed and use.missing:
        parts.append(f"the project's home counts as full while {names} cannot be looked into")
    if use.before:
        parts.append(
            f"{shown_size(use.before)} of it were in the project's home before this session, "
            f"{_HOME_HINT}"
        )
    parts += _most_in(use.largest, use.size, shown_size)
    return "; ".join(parts)


def files_words(use: Use, *, limit: int) -> str:
    """Return why too many files count as made."""
    words = f"{use.names} of {limit} names in the workspace were made or changed"
    if use.missing_files:
        words += f", as far as can be told while {', '.join(use.unsure)} could not be looked into"
    return "; ".join([words, *_most_in(use.fullest, use.names, str)])


def _most_in(
    places: Iterable[tuple[str, int]], whole: int, shown: Callable[[int], str]
) -> list[str]:
    named = ", ".join(
        f"{place} ({shown(amount)})" for place, amount in places if amount * SHARE >= whole
    )
    return [f"most in {named}"] if named else []


def shown_size(count: int) -> str:
    """Return a size as people read it."""
    number, unit = float(count), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.1f} {_UNITS[unit]}" if unit else f"{count} bytes"
