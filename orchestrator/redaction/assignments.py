"""Values assigned to names that speak of secrets, in whatever notation: env, JSON, YAML, code, XML.

A name counts by its end: ``DB_PASSWORD``, ``api_key``, ``clientSecret`` do, ``token_count`` and
``secretary`` do not. What the value is decides ``values``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import Setting, Strength, is_secret_value

_STEM = re.compile(
    r"passw(?:or)?d|passphrase|passwort|pass|pwd|secret|token|key|credentials?|auth|code",
    re.IGNORECASE,
)
_BEFORE: dict[str, re.Pattern[str]] = {
    "pass": re.compile(r"(?:[_-].|[a-z]P|PGP)\Z"),
    "pwd": re.compile(r"(?:\A.|[^A-Za-z].|[a-z]P)\Z"),
    "key": re.compile(
        r"(?:api|access|secret|private|auth|signing|sign|encryption|master|account|storage|client|"
        r"service|deploy|license|subscription|admin|app|webhook|bot)[_-]?.\Z",
        re.IGNORECASE,
    ),
    "auth": re.compile(r"[_\"'].\Z"),
    "code": re.compile(r"(?:connection|access)[_-]?.\Z", re.IGNORECASE),
}
"""What must stand before a stem that is too common on its own; the dot is its first letter."""
_TAIL = re.compile(
    r"(?:[_-]?(?:prod|production|dev|staging|live|test|base|value|data|plain|b64|base64|[0-9]{1,3})"
    r"(?![A-Za-z0-9]))?(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_PASSWORD_STEMS = ("pass", "pwd")
_OPERATOR = re.compile(
    r"""[?!]?(?:\\*["'`]|&quot;)?\]?[ \t]{0,16}(?P<op>:=|=>|={1,3}|:)[ \t]{0,16}(?P<quote>\\*(?:["'`]|&quot;))?"""
)
_ELEMENT = re.compile(r">(?P<value>[^<>\s]{4,512}+)</")
_FLAG = re.compile(r"""[ \t]{1,4}(?P<quote>["']?)(?P<value>[^\s"'`;|&<>()]{8,512}+)""")

_BARE = re.compile(r"""[^\s"'`,;&<>()\[\]{}|\\]{1,512}+""")
_LINE_BARE = re.compile(r"""[^\s"'`]{1,512}+""")
_LOOK = 4096
"""Characters in which a closing quote is looked for."""
_CALL = re.compile(r"[(\[{]")
_LINE_NAME = re.compile(
    r"(?:^|[\n;])[ \t]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+|-[ \t]+|\+[ \t]*)?\Z"
)
_LONGEST_REMEMBERED = 128
"""Characters of a field's name: a box's words must not fill the host's memory."""
_WORD_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,64}\Z")


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that speaks of a secret: all of it that is a word, and where it ends."""

    word: str
    start: int
    end: int
    strength: Strength


def find_assignments(text: str) -> Iterator[Span]:
    """Yield the values of suspicious names that are secrets themselves."""
    at = 0
    while (stem := _STEM.search(text, at)) is not None:
        at = stem.end()
        name = _name_at(text, stem)
        found = _value_after(text, name) if name else None
        if found is not None:
            yield found
            at = found.end


def is_secret_field(field: str, value: str) -> Strength | None:
    """Return what a data field holds when its name and its value say that it is a secret."""
    look = _told_by_name if len(field) <= _LONGEST_REMEMBERED else _told_by_name.__wrapped__
    strength = look(field)
    if strength is None or not is_secret_value(value, Setting(strength, literal=True)):
        return None
    return strength


@lru_cache(maxsize=512)
def _told_by_name(field: str) -> Strength | None:
    """Return what a data field of this name may hold; the same few names come all the time."""
    quoted = f'"{field}'
    for stem in _STEM.finditer(quoted):
        name = _name_at(quoted, stem)
        if name is not None and name.end == len(quoted):
            return name.strength
    return None


def _name_at(text: str, stem: re.Match[str]) -> _Name | None:
    """Return the name that ends with this stem, None where it means something else."""
    tail = _TAIL.match(text, stem.end())
    if tail is None:
        return None
    before = _BEFORE.get(stem[0].lower())
    if before is not None and not before.search(text[max(0, stem.start() - 16) : stem.start() + 1]):
        return None
    prefix = _WORD_BEFORE.search(text, max(0, stem.start() - 64), stem.start())
    start = prefix.start() if prefix else stem.start()
    word = text[start : tail.end()]
    # In ``//token:…@host`` it is a user's name.
    if "public" in word.lower() or text.endswith("//", 0, start):
        return None
    strength: Strength = "password" if stem[0].lower().startswith(_PASSWORD_STEMS) else "token"
    return _Name(word, start, tail.end(), strength)


def _value_after(text: str, name: _Name) -> Span | None:
    if text.startswith(">", name.end):
        return _judged(_ELEMENT.match(text, name.end), name.strength, literal=True)
    operator = _OPERATOR.match(text, name.end)
    if operator is None:
        # ``--some-token VALUE``
        flag = _FLAG.match(text, name.end) if name.word.startswith("--") else None
        return _judged(flag, name.strength, literal=False)
    if operator["quote"]:
        return _quoted_value(text, operator, name.strength)
    return _bare_value(text, name, operator)


def _quoted_value(text: str, operator: re.Match[str], strength: Strength) -> Span | None:
    start = operator.end()
    end = text.find(operator["quote"], start, start + _LOOK)
    line_end = text.find("\n", start, start + _LOOK)
    if end < 0 or 0 <= line_end < end:
        # No closing quote: the text was cut here, or the value is longer than one look.
        match = _BARE.match(text, start)
        end = _run_on(text, match) if match else start
    if not is_secret_value(text[start:end], Setting(strength, literal=True)):
        return None
    return Span(start, end, strength, Certainty.CONTEXT)


def _bare_value(text: str, name: _Name, operator: re.Match[str]) -> Span | None:
    as_line = _is_line_setting(text, name, operator)
    match = (_LINE_BARE if as_line else _BARE).match(text, operator.end())
    if match is None or (not as_line and _CALL.match(text, match.end())):
        return None
    value = match[0].rstrip(";" if as_line else ".,:!?")
    if not is_secret_value(value, Setting(name.strength, literal=as_line)):
        return None
    cut = len(match[0]) - len(value)
    return Span(match.start(), _run_on(text, match) - cut, name.strength, Certainty.CONTEXT)


def _run_on(text: str, match: re.Match[str]) -> int:
    """Return the end of a value that may be longer than one look at it."""
    end = match.end()
    while (more := match.re.match(text, end)) is not None:
        end = more.end()
    return end


def _judged(match: re.Match[str] | None, strength: Strength, *, literal: bool) -> Span | None:
    if match is None or not is_secret_value(match["value"], Setting(strength, literal=literal)):
        return None
    return Span(*match.span("value"), strength, Certainty.CONTEXT)


def _is_line_setting(text: str, name: _Name, operator: re.Match[str]) -> bool:
    """Say whether this is a shell or .env line, where an unquoted word is a literal."""
    if operator[0] != "=" or name.word != name.word.upper():
        return False
    return _LINE_NAME.search(text, max(0, name.start - 16), name.start) is not None
