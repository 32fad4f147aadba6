"""Arguments sorted by what a program makes of them: options, values, operands, sub-commands, tail.

Pure: an argument list and a ``Spec`` in, an ``Invocation`` out. Where spellings are ambiguous the
reading that matters more is taken (``--forc`` counts as ``--force``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.shell.analysis import Word
from orchestrator.shell.knowledge import Spec

_ASSIGNMENT = re.compile(r"[A-Za-z_][\w%()]*\+?=")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)=")
_MIN_ABBREVIATION = 4
"""Two dashes and two letters: shorter ones are too often something else."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as the program reads it."""

    name: str
    word: Word
    value: Word | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A command inside the arguments, such as find's ``-exec … ;``."""

    option: str
    words: tuple[Word, ...]


@dataclass(slots=True)
class Invocation:
    """A simple command's arguments, sorted."""

    specs: list[Spec]
    """The program's entry, then its sub-commands' down to the one that was named."""
    sub: list[str] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    assignments: list[Word] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    tail: tuple[Word, ...] = ()
    """The inner command of a wrapper, or what follows inline code."""
    dashes: int | None = None
    """How many operands stand before ``--``."""
    unread_sub: Word | None = None
    """A word in a sub-command's place that is not static."""

    @property
    def spec(self) -> Spec:
        """The entry that is nearest to what runs."""
        return self.specs[-1]

    def has(self, *names: str) -> bool:
        """Say whether one of these options is given."""
        return any(option.name in names for option in self.options)

    def values(self, *names: str) -> list[Word]:
        """Return the values given to these options."""
        return [
            option.value
            for option in self.options
            if option.name in names and option.value is not None
        ]


def slice_word(word: Word, start: int) -> Word:
    """Return the word without its first ``start`` characters."""
    shape = word.shape[start:]
    verbatim = word.raw == word.shape
    return Word(
        None if word.value is None else shape,
        word.raw[start:] if verbatim else word.raw,
        (min(word.span[0] + start, word.span[1]), word.span[1]) if verbatim else word.span,
        glob=word.glob,
        shape=shape,
        splits=word.splits,
    )


def read_arguments(arguments: Sequence[Word], spec: Spec) -> Invocation:
    """Sort ``arguments`` (without the program's name) by the program's entry."""
    reader = _Reader(list(arguments), Invocation(specs=[spec]))
    reader.read()
    return reader.result


class _Reader:
    def __init__(self, words: list[Word], result: Invocation) -> None:
        self.words = words
        self.result = result
        self.at = 0
        self.ended = False
        self.subs_over = False

    def read(self) -> None:
        if self.result.spec.style == "bundle":
            self._read_bundle()
        while self.at < len(self.words):
            word = self.words[self.at]
            shape = word.shape
            if self._is_tail_mark(shape):
                self._take_tail(self.at + 1)
            elif not self.ended and shape == "--":
                self.ended = True
                self.result.dashes = len(self.result.operands)
                self.at += 1
            elif not self.ended and len(shape) > 1 and shape[0] in "-+" and self._is_option(shape):
                self.at += 1
                self._read_option(word)
            else:
                self._read_operand(word)

    def _is_option(self, shape: str) -> bool:
        if shape[0] == "-":
            return True
        return shape in self.result.spec.takes_value or shape in self.result.spec.known

    def _is_tail_mark(self, shape: str) -> bool:
        wraps = self.result.spec.wraps
        return wraps is not None and bool(wraps.after) and shape == wraps.after

    def _take_tail(self, start: int) -> None:
        self.result.tail = tuple(self.words[start:])
        self.at = len(self.words)

    def _read_operand(self, word: Word) -> None:
        result = self.result
        if not self.subs_over and not self.ended and result.spec.sub_specs:
            self._descend(word)
            return
        wraps = result.spec.wraps
        if wraps is not None and not wraps.anywhere:
            if wraps.assignments and _ASSIGNMENT.match(word.shape):
                result.assignments.append(word)
                self.at += 1
                return
            if len(result.operands) >= wraps.skip and not wraps.after:
                self._take_tail(self.at)
                return
        pair = _PAIR.match(word.shape) if result.spec.style == "pairs" else None
        if pair is not None:
            value = slice_word(word, pair.end())
            result.options.append(Option(pair[1], word, value))
        else:
            result.operands.append(word)
            self.ended = self.ended or result.spec.stop
        self.at += 1

    def _descend(self, word: Word) -> None:
        result = self.result
        sub = result.spec.sub_specs.get(word.shape)
        if sub is not None:
            result.specs.append(sub)
            result.sub.append(word.shape)
        elif result.spec.wraps is not None:
            self.subs_over = True
            return
        else:
            self.subs_over = True
            if word.value is None and result.spec.dynamic_sub:
                result.unread_sub = word
            result.operands.append(word)
        self.at += 1

    def _read_bundle(self) -> None:
        if self.words and self.words[0].shape[:1] not in {"-", ""}:
            first = self.words[0]
            self.at = 1
            self._read_cluster(first, first.shape)

    def _read_option(self, word: Word) -> None:
        shape = word.shape
        option = shape.partition("=")[0]
        ends = next((s.until[option] for s in self.result.specs if option in s.until), None)
        if ends is not None:
            glued = () if option == shape else (slice_word(word, len(option) + 1),)
            self._read_run(option, ends, glued)
        elif shape.startswith("--") or shape[0] == "+" or self._is_single():
            name, equals, _ = shape.partition("=")
            name = self._full_name(name)
            if equals:
                self._add(name, word, slice_word(word, shape.index("=") + 1))
            else:
                self._add(name, word, self._next_value() if self._takes_value(name) else None)
        else:
            self._read_cluster(word, shape[1:])

    def _is_single(self) -> bool:
        return any(spec.style == "single" for spec in self.result.specs)

    def _read_run(self, option: str, ends: tuple[str, ...], glued: tuple[Word, ...]) -> None:
        start = self.at
        while self.at < len(self.words) and not self._ends_run(self.at, ends):
            self.at += 1
        self.result.runs.append(Run(option, (*glued, *self.words[start : self.at])))
        self.at += 1

    def _ends_run(self, index: int, ends: tuple[str, ...]) -> bool:
        shape = self.words[index].shape
        if shape == "+":
            return shape in ends and self.words[index - 1].shape == "{}"
        return shape in ends

    def _read_cluster(self, word: Word, letters: str) -> None:
        """Read ``-abVALUE``: letters up to the first that takes a value."""
        whole = "-" + letters
        if self._is_exact(whole):
            self._add(whole, word, self._next_value() if self._takes_value(whole) else None)
            return
        offset = len(word.shape) - len(letters)
        number = False
        for index, letter in enumerate(letters):
            name = "-" + letter
            if number and letter.isdigit():
                continue
            number = any(name in spec.digits for spec in self.result.specs)
            rest = letters[index + 1 :]
            takes = self._takes_value(name)
            if (takes or self._is_glued(name)) and rest and self._bundled_values():
                self._add(name, word, slice_word(word, offset + index + 1))
                return
            self._add(name, word, self._next_value() if takes else None)

    def _bundled_values(self) -> bool:
        """Say whether the rest of a cluster is a value; in tar's old style values follow apart."""
        return not (self.result.spec.style == "bundle" and self.words[0].shape[:1] != "-")

    def _is_exact(self, name: str) -> bool:
        return len(name) > 2 and any(name in spec.known for spec in self.result.specs)

    def _next_value(self) -> Word | None:
        if self.at >= len(self.words):
            return None
        self.at += 1
        return self.words[self.at - 1]

    def _takes_value(self, name: str) -> bool:
        return any(name in spec.takes_value for spec in self.result.specs)

    def _is_glued(self, name: str) -> bool:
        return any(name in spec.glued for spec in self.result.specs)

    def _full_name(self, name: str) -> str:
        for spec in self.result.specs:
            if name in spec.known:
                return name
        if len(name) >= _MIN_ABBREVIATION and name.startswith("--"):
            for spec in reversed(self.result.specs):
                for known in spec.risky:
                    if known.startswith(name):
                        return known
        return name

    def _add(self, name: str, word: Word, value: Word | None) -> None:
        self.result.options.append(Option(name, word, value))
        if any(name in spec.stop_after for spec in self.result.specs):
            self.result.tail = tuple(self.words[self.at :])
            self.at = len(self.words)
