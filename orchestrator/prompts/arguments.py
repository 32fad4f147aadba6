"""What a template takes: declared in its head, typed, bound from words or values. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from orchestrator.errors import PromptError

Kind = Literal["text", "integer", "number", "boolean", "choice", "list"]
SAID = "said"
"""The variable that holds all that was said after the template's name."""
MOST_TEXT = 64 * 1024
"""Characters of what is said to a template."""
MOST_DIGITS = 15
"""Of a whole number: it stays exact in JSON, and fits wherever a template puts it."""
_GOT = 100
"""Characters of a wrong word that a message repeats."""
_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_WORD = re.compile(r"\S+")


class Argument(BaseModel):
    """One argument."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: Kind = "text"
    """A ``list`` takes all words that are left, and so does a ``text`` that comes last."""
    description: Annotated[str, Field(max_length=500)] = ""
    default: str | int | float | bool | list[str] | None = None
    """Without one it must be given; a list is then empty and a boolean false."""
    choices: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _agrees(self) -> Argument:
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("'choices' go with the type 'choice', and only with it")
        if self.default is not None:
            self.checked("default", self.default)
        return self

    @property
    def is_optional(self) -> bool:
        """Say whether it may be left out."""
        return self.default is not None or self.type in {"list", "boolean"}

    @property
    def if_left_out(self) -> Any:
        """Its value then."""
        if self.default is None:
            return [] if self.type == "list" else False
        return self.default

    def parsed(self, name: str, word: str) -> Any:
        """Return the value that a word stands for; ValueError with what was expected."""
        match self.type:
            case "integer" | "number":
                kind = int if self.type == "integer" else float
                try:
                    return self.checked(name, kind(word))
                except ValueError as err:
                    got = repr(word[:_GOT])
                    raise ValueError(f"{name}: expected {self.expected}, got {got}") from err
            case "boolean":
                return self.checked(name, _WORDS.get(word.lower(), word))
            case "list":
                items = word.split(",")
                if not all(items):
                    raise ValueError(
                        f"{name}: expected texts with one comma between them, got {word[:_GOT]!r}"
                    )
                return items
        return self.checked(name, word)

    def checked(self, name: str, value: Any) -> Any:
        """Return a value that has the type; ValueError for another."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = {
            "text": isinstance(value, str),
            "integer": is_number and isinstance(value, int) and abs(value) < 10**MOST_DIGITS,
            "number": is_number and abs(value) < float("inf"),
            "boolean": isinstance(value, bool),
            "choice": value in self.choices,
            "list": isinstance(value, list) and all(isinstance(item, str) for item in value),
        }
        if not fits[self.type]:
            raise ValueError(f"{name}: expected {self.expected}, got {value!r}")
        return value

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        words = {
            "text": "text",
            "integer": f"a whole number of at most {MOST_DIGITS} digits",
            "number": "a number",
            "boolean": "yes or no",
            "choice": f"one of {', '.join(self.choices)}",
            "list": "a list of texts",
        }
        return words[self.type]


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it was typed, quotes taken off."""

    text: str
    start: int
    """Where it begins in what was typed."""
    quoted: bool


def split_words(text: str) -> list[Word]:
    """Return the words of a line; quotes hold words together, but only where a word begins.

    So ``doesn't`` is a word, and a quote that nothing closes is a character.
    """
    words, place = [], 0
    while found := _WORD.search(text, place):
        start = found.start()
        quote = text[start]
        end = text.find(quote, start + 1) if quote in "\"'" else -1
        if end > 0 and (end + 1 == len(text) or text[end + 1].isspace()):
            words.append(Word(text[start + 1 : end], start, quoted=True))
            place = end + 1
        else:
            place = found.end()
            words.append(Word(text[start:place], start, quoted=False))
    return words


def bind_words(declared: Mapping[str, Argument], said: str, *, usage: str) -> dict[str, Any]:
    """Return the values of all arguments for what was said; PromptError, with usage, where it does not fit.

    ``name=value`` gives a declared argument by name; other words fill the rest in their order.
    """
    if len(said) > MOST_TEXT:
        raise PromptError(f"{usage}: expected at most {MOST_TEXT} characters, got more")
    try:
        named, words = _named(declared, split_words(said))
        return _filled(declared, named | _placed(declared, named, words, said))
    except ValueError as err:
        raise PromptError(str(err), hint=f"usage: {usage}") from err


def bind_values(
    declared: Mapping[str, Argument], values: Mapping[str, Any], *, name: str
) -> dict[str, Any]:
    """Return the values of all arguments for some that a program gives; PromptError otherwise."""
    try:
        for given in values:
            if given not in declared:
                raise ValueError(f"{given}: no such argument")  # noqa: TRY301 - one translation
        checked = {given: declared[given].checked(given, value) for given, value in values.items()}
        return _filled(declared, checked)
    except ValueError as err:
        raise PromptError(f"template {name}: {err}") from err


def usage_of(name: str, declared: Mapping[str, Argument]) -> str:
    """Return how a template is called, on one line."""
    words = []
    for argument, form in declared.items():
        if form.type == "boolean":
            words.append(f"[{argument}=yes]")
            continue
        shown = "|".join(form.choices) or argument.upper() + ("…" if form.type == "list" else "")
        words.append(f"[{shown}]" if form.is_optional else shown)
    return " ".join([f"/{name}", *words])


def _named(
    declared: Mapping[str, Argument], words: Iterable[Word]
) -> tuple[dict[str, Any], list[Word]]:
    named: dict[str, Any] = {}
    left = []
    for word in words:
        name, equals, value = word.text.partition("=")
        if word.quoted or not equals or name not in declared:
            left.append(word)
            continue
        if name in named:
            raise ValueError(f"{name}: given twice")
        named[name] = declared[name].parsed(name, value)
    return named, left


def _placed(
    declared: Mapping[str, Argument], named: Mapping[str, Any], words: Sequence[Word], said: str
) -> dict[str, Any]:
    open_ones = [
        name for name, form in declared.items() if name not in named and form.type != "boolean"
    ]
    placed: dict[str, Any] = {}
    left = list(words)
    for number, name in enumerate(open_ones):
        if not left:
            break
        form = declared[name]
        if form.type == "list":
            placed[name], left = [word.text for word in left], []
        elif form.type == "text" and number == len(open_ones) - 1 and len(left) > 1:
            # As it was typed, lines and quotes too; but where a name=value stands among it.
            whole = said[left[0].start :].strip()
            alone = len(split_words(whole)) == len(left)
            placed[name] = whole if alone else " ".join(word.text for word in left)
            left = []
        else:
            placed[name] = form.parsed(name, left.pop(0).text)
    if left:
        raise ValueError(f"expected {len(open_ones) or 'no'} arguments, got more: {left[0].text!r}")
    return placed


def _filled(declared: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    for name, form in declared.items():
        if name not in given and not form.is_optional:
            raise ValueError(f"{name} is missing: {form.description or form.expected}")
    return {name: given.get(name, form.if_left_out) for name, form in declared.items()}
