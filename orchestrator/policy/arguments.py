"""Do the arguments of a command match a rule's? Yes, no, or it cannot be told from the text.

What cannot be told counts against the command: ``lenient`` (for ``ask`` and ``deny`` rules) is
content with one reading of the options; without it (``allow``) every reading must match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from fnmatch import fnmatchcase

from orchestrator.policy.globs import name_glob
from orchestrator.policy.rules import Flags
from orchestrator.shell.analysis import Word

MAX_WORDS = 200
"""Words looked at for ``args``; a longer run of options is not how ``allow`` is earned."""
_UNREAD = "\ufffc"
"""Stands in ``Word.shape`` for what is not static."""

TakesValue = Callable[[str], bool | None]
"""Whether an option takes the next word as its value; None where that is not known."""


class Certainty(IntEnum):
    """How sure a match is."""

    NO = 0
    MAYBE = 1
    YES = 2


def sure(holds: bool) -> Certainty:
    """Return YES or NO."""
    return Certainty.YES if holds else Certainty.NO


def match_args(
    words: Sequence[Word],
    wanted: Sequence[Sequence[str]],
    *,
    takes_value: TakesValue,
    lenient: bool,
) -> Certainty:
    """Say whether ``wanted`` are the first arguments, options before and between them left out."""
    if len(words) > MAX_WORDS:
        return Certainty.MAYBE
    return _Reading(words, wanted, takes_value=takes_value, lenient=lenient).at(0, 0)


def match_flags(flags: Flags, words: Sequence[Word], *, lenient: bool) -> Certainty:
    """Say whether options are given as the rule wants them."""
    result = Certainty.YES
    if flags.any:
        result = max(_given(flag, words, lenient=lenient) for flag in flags.any)
    for flag in flags.all:
        result = min(result, _given(flag, words, lenient=lenient))
    for flag in flags.none:
        # The opposite leniency: whatever might be the flag must not earn an allow.
        result = min(result, Certainty(2 - _given(flag, words, lenient=not lenient)))
    return result


class _Reading:
    """All ways to read options before and between arguments: each may take the next word or not."""

    def __init__(
        self,
        words: Sequence[Word],
        wanted: Sequence[Sequence[str]],
        *,
        takes_value: TakesValue,
        lenient: bool,
    ) -> None:
        self._words = words
        self._wanted = wanted
        self._takes_value = takes_value
        self._lenient = lenient
        self._known: dict[tuple[int, int], Certainty] = {}

    def at(self, word: int, arg: int) -> Certainty:
        """Return the match of the words from ``word`` on with the arguments from ``arg`` on."""
        if arg == len(self._wanted):
            return Certainty.YES
        if word >= len(self._words):
            return Certainty.NO
        key = (word, arg)
        if key not in self._known:
            self._known[key] = self._judge(word, arg)
        return self._known[key]

    def _judge(self, word: int, arg: int) -> Certainty:
        item = self._words[word]
        here = _is_one_of(item, self._wanted[arg])
        if item.value is None:
            # It may hold options too, or expand to nothing or to several words.
            return Certainty.MAYBE if here or item.splits or _may_be_option(item) else here
        taken = min(here, self.at(word + 1, arg + 1)) if here else Certainty.NO
        if not item.value.startswith("-") or item.value == "-":
            return taken
        if here is Certainty.YES and not self._lenient:
            return taken
        readings = [self.at(after, arg) for after in self._after_option(word)]
        return max(taken, *readings) if self._lenient else min(readings)

    def _after_option(self, word: int) -> list[int]:
        text = self._words[word].value or ""
        if "=" in text or text == "--" or word + 1 == len(self._words):
            return [word + 1]
        takes = self._takes_value(text)
        if takes is None:
            return [word + 1, word + 2]
        return [word + 2 if takes else word + 1]


def _given(flag: str, words: Sequence[Word], *, lenient: bool) -> Certainty:
    best = Certainty.NO
    for word in words:
        if word.value == "--":
            break
        best = max(best, _is_flag(word, flag, lenient=lenient))
    return best


def _is_flag(word: Word, flag: str, *, lenient: bool) -> Certainty:
    text = word.value
    if text is None:
        return Certainty.MAYBE if _could_be(word, flag) or _may_be_option(word) else Certainty.NO
    if text == flag or text.startswith(flag + "="):
        return Certainty.YES
    if word.glob and fnmatchcase(flag, text):
        return Certainty.MAYBE
    return sure(lenient and _abbreviates(text, flag))


def _abbreviates(text: str, flag: str) -> bool:
    if flag.startswith("--"):
        name = text.partition("=")[0]
        return len(name) > 2 and name.startswith("--") and flag.startswith(name)
    clustered = len(flag) == 2 and text.startswith("-") and not text.startswith("--")
    return clustered and flag[1] in text[1:]


def _is_one_of(word: Word, alternatives: Iterable[str]) -> Certainty:
    text = word.value
    if text is None or word.glob:
        possible = any(_could_be(word, alternative) for alternative in alternatives)
        return Certainty.MAYBE if possible else Certainty.NO
    return sure(any(name_glob(alternative).match(text) for alternative in alternatives))


def _could_be(word: Word, text: str) -> bool:
    """Say whether an expansion of the word can be ``text``, which may itself be a glob."""
    if word.value is not None:
        return fnmatchcase(text, word.value) or bool(name_glob(text).match(word.value))
    if word.splits or _UNREAD not in word.shape or "*" in text or "?" in text:
        return True
    pieces = (re.escape(piece) for piece in word.shape.split(_UNREAD))
    return re.fullmatch(r"[\s\S]*".join(pieces), text) is not None


def _may_be_option(word: Word) -> bool:
    return word.splits or word.shape[:1] in {"", "-", _UNREAD}
