"""Ways to spell one word of a command so that bash reads the same and a reader may not."""

from __future__ import annotations

import random
import re
import shlex
from dataclasses import dataclass, field

NAMES = ("x", "a1", "_v", "cmd", "opt")
_PLAIN = re.compile(r"[\w./:@%+=,-]+")


@dataclass
class Line:
    """A command under construction: what must stand before it, and its words as spelled."""

    chance: random.Random
    before: list[str] = field(default_factory=list)
    used: int = 0

    def name(self) -> str:
        """Return a variable name that is free."""
        self.used += 1
        return f"{self.chance.choice(NAMES)}{self.used}"


def single(text: str) -> str:
    """Put text between single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def double(text: str) -> str:
    """Put text between double quotes, nothing in it expanded."""
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


def _plain(word: str, _line: Line) -> str:
    return shlex.quote(word)


def _single(word: str, _line: Line) -> str:
    return single(word)


def _double(word: str, _line: Line) -> str:
    return double(word)


def _parts(word: str, line: Line) -> str:
    """Cut the word and quote each part in its own way."""
    cut = line.chance.randint(1, max(1, len(word) - 1))
    ways = (shlex.quote, single, double, _escaped_text)
    return line.chance.choice(ways)(word[:cut]) + line.chance.choice(ways)(word[cut:])


def _empty_quotes(word: str, line: Line) -> str:
    cut = line.chance.randint(1, max(1, len(word) - 1))
    return (
        shlex.quote(word[:cut])
        + line.chance.choice(["''", '""', "$''"])
        + (shlex.quote(word[cut:]) if word[cut:] else "")
    )


def _escaped_text(text: str) -> str:
    return "".join(
        f"\\{char}" if char.isascii() and char != "\n" else single(char) for char in text
    )


def _escaped(word: str, _line: Line) -> str:
    return _escaped_text(word) or "''"


def _ansi(word: str, line: Line) -> str:
    """Spell letters by number: ``$'\\x67it'``."""
    forms = ("\\x{:02x}", "\\{:03o}", "\\u{:04x}")
    pieces = [
        line.chance.choice(forms).format(ord(char))
        if line.chance.random() < 0.6 and char.isascii()
        else re.sub(r"([\\'])", r"\\\1", char).replace("\n", "\\n")
        for char in word
    ]
    return "$'" + "".join(pieces) + "'"


def _continued(word: str, line: Line) -> str:
    if not _PLAIN.fullmatch(word) or len(word) < 2:
        return shlex.quote(word)
    cut = line.chance.randint(1, len(word) - 1)
    return f"{word[:cut]}\\\n{word[cut:]}"


def _variable(word: str, line: Line) -> str:
    name = line.name()
    line.before.append(f"{name}={single(word)}")
    return line.chance.choice(
        [f'"${name}"', f'"${{{name}}}"', f"${{{name}}}" if _PLAIN.fullmatch(word) else f'"${name}"']
    )


def _cut_variable(word: str, line: Line) -> str:
    """Cut, replace or change a variable's value on the way."""
    name = line.name()
    if not _PLAIN.fullmatch(word) or word[0] in "/%":
        return _variable(word, line)
    forms = [
        (f"Z{word}", f"${{{name}#Z}}"),
        (f"{word}Z", f"${{{name}%Z}}"),
        (f"q{word}", f"${{{name}:1}}"),
        (word.replace(word[0], "Z", 1), f"${{{name}/Z/{word[0]}}}"),
    ]
    if word.islower():
        forms.append((word.upper(), f"${{{name},,}}"))
    value, use = line.chance.choice(forms)
    line.before.append(f"{name}={single(value)}")
    return f'"{use}"'


def _indirect(word: str, line: Line) -> str:
    name, other = line.name(), line.name()
    line.before.append(f"{name}={single(word)}; {other}={name}")
    return f'"${{!{other}}}"'


def _array(word: str, line: Line) -> str:
    name = line.name()
    line.before.append(f"{name}=(zero {single(word)})")
    return f'"${{{name}[1]}}"'


def _default(word: str, line: Line) -> str:
    return f"${{{line.name()}:-{word}}}" if _PLAIN.fullmatch(word) else shlex.quote(word)


def _printed(word: str, line: Line) -> str:
    if word.startswith("-") or "\\" in word or "%" in word:
        return single(word)
    printer = line.chance.choice(["echo {}", "printf %s {}", "printf '%s' {}"])
    inner = printer.format(single(word))
    return f'"$({inner})"'


def _ticked(word: str, line: Line) -> str:
    if not _PLAIN.fullmatch(word) or word.startswith("-"):
        return single(word)
    return line.chance.choice([f"`echo {word}`", f"$(echo {word})"])


def _braced(word: str, line: Line) -> str:
    if not _PLAIN.fullmatch(word) or "," in word or len(word) < 2:
        return shlex.quote(word)
    cut = line.chance.randint(1, len(word) - 1)
    return line.chance.choice(
        [
            f"{{{word},}}" if line.chance.random() < 0.2 else word,
            f"{word[:cut]}{{{word[cut:]},{word[cut:]}}}",
        ]
    )


WAYS = (
    _plain, _single, _double, _parts, _empty_quotes, _escaped, _ansi, _continued, _variable,
    _cut_variable, _indirect, _array, _default, _printed, _ticked,
)  # fmt: skip


def spell(word: str, line: Line, *, often_plain: bool = True) -> str:
    """Return one spelling of a word; other words of the line may need what it puts before."""
    if often_plain and line.chance.random() < 0.35:
        return shlex.quote(word)
    return line.chance.choice(WAYS)(word, line)


def join(words: list[str], line: Line) -> str:
    """Join spelled words by blanks of many kinds."""
    gaps = [" ", " ", " ", "  ", "\t", " \\\n", " \\\n\t"]
    text = words[0]
    for word in words[1:]:
        text += line.chance.choice(gaps) + word
    return text


def rewrite(argv: list[str], chance: random.Random) -> tuple[str, str]:
    """Return what must be set before, and the command in another spelling."""
    line = Line(chance)
    if all(_PLAIN.fullmatch(word) for word in argv) and chance.random() < 0.08:
        return "", "${IFS}".join(argv)
    if (
        len(argv) > 1
        and all(_PLAIN.fullmatch(w) and "," not in w for w in argv)
        and chance.random() < 0.05
    ):
        return "", "{" + ",".join(argv) + "}"
    if chance.random() < 0.06:
        name = line.name()
        return f"{name}=({' '.join(map(single, argv))})", f'"${{{name}[@]}}"'
    if chance.random() < 0.05:
        return f"set -- {' '.join(map(single, argv))}", '"$@"'
    words = [spell(word, line) for word in argv]
    return "; ".join(line.before), join(words, line)
