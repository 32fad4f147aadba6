"""Taking the fields of a SKILL.md one by one, every mistake kept with its line."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orchestrator.skills.frontmatter import Fields, Value


@dataclass(slots=True)
class Reader:
    """The fields of one mapping, and what was found wrong in all of them."""

    fields: Fields
    source: str
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fail(self, line: int, problem: str) -> None:
        """Keep a mistake that keeps the skill from being loaded."""
        self.errors.append(f"{self.source}:{line}: {problem}")

    def warn(self, line: int, problem: str) -> None:
        """Keep what a person should mend, and the skill is loaded without."""
        self.warnings.append(f"{self.source}:{line}: {problem}")

    def text(self, key: str, *, longest: int) -> str:
        """Return a text, empty where there is none."""
        value = self.fields.get(key)
        if value is None:
            return ""
        if not isinstance(value.data, str):
            self.fail(value.line, f"{key}: expected text, got {_kind(value)}")
            return ""
        text = value.data.strip()
        if len(text) > longest:
            self.fail(value.line, f"{key}: expected at most {longest} characters, got {len(text)}")
        return text

    def texts(self, key: str, *, split: bool = False, most: int = 64) -> tuple[str, ...]:
        """Return a list of texts; with ``split`` a text of words by space or comma is one too."""
        value = self.fields.get(key)
        if value is None:
            return ()
        if isinstance(value.data, str):
            return tuple(split_words(value.data)) if split else (value.data.strip(),)
        if not isinstance(value.data, tuple):
            self.fail(value.line, f"{key}: expected a list of texts, got {_kind(value)}")
            return ()
        found = []
        for item in value.data:
            if isinstance(item.data, str) and item.data.strip():
                found.append(item.data.strip())
            else:
                self.fail(item.line, f"{key}: expected a text, got {_kind(item)}")
        if len(found) > most:
            self.fail(value.line, f"{key}: expected at most {most}, got {len(found)}")
        return tuple(found)

    def below(self, key: str) -> Reader | None:
        """Return a reader of a mapping's own fields, which keeps its mistakes here."""
        value = self.fields.get(key)
        if value is None:
            return None
        if not isinstance(value.data, Mapping):
            self.fail(value.line, f"{key}: expected fields as KEY: VALUE, got {_kind(value)}")
            return None
        return Reader(value.data, self.source, self.errors, self.warnings)

    def number(self, key: str, *, least: float, most: float) -> float | None:
        """Return a number, None where there is none."""
        value = self.fields.get(key)
        if value is None:
            return None
        try:
            number = float(value.data) if isinstance(value.data, str) else math.nan
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            shown = value.data if isinstance(value.data, str) else _kind(value)
            self.fail(
                value.line, f"{key}: expected a number from {least:g} to {most:g}, got {shown}"
            )
            return None
        return number

    def only(self, known: Iterable[str], *, where: str = "") -> None:
        """Tell of every field that means nothing here."""
        names = list(known)
        for key, value in self.fields.items():
            if key not in names:
                close = difflib.get_close_matches(key, names, n=1)
                meant = f"; did you mean {close[0]}?" if close else ""
                self.warn(value.line, f"{where}{key} means nothing here{meant}")

    def line(self, key: str) -> int:
        """Return the line of a field, 1 where it lacks."""
        return self.fields[key].line if key in self.fields else 1


def split_words(text: str) -> list[str]:
    """Return words that spaces or commas part; what stands in brackets stays together."""
    words, word, depth = [], "", 0
    for char in text:
        depth += (char == "(") - (char == ")" and depth > 0)
        if depth == 0 and (char.isspace() or char == ","):
            words.append(word)
            word = ""
        else:
            word += char
    return [item for item in (*words, word) if item]


def _kind(value: Value) -> str:
    if value.data is None:
        return "nothing"
    if isinstance(value.data, str):
        return "text"
    return "a list" if isinstance(value.data, tuple) else "fields"
