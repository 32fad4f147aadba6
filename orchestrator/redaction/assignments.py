"""Values assigned to names that speak of secrets, in whatever notation: env, JSON, YAML, code, XML.

A name counts by its end: ``DB_PASSWORD``, ``api_key``, ``clientSecret`` do, ``token_count`` and
``secretary`` do not. What the value is decides ``values``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import Setting, Strength, is_secret_value

_PASSWORDS = (
    r"passw(?:or)?d|passphrase|passwort|(?<![a-z])pwd|(?<=[_-])pass|(?<=[a-z])Pass|(?<=PG)PASS"
)
_KEYS = (
    r"(?:api|access|secret|private|auth|signing|sign|encryption|master|account|sharedaccess|"
    r"shared[_-]access|storage|service|deploy|license|subscription|admin|app|webhook|bot)[_-]?key"
)
_TOKENS = (
    rf"secret|token|{_KEYS}|client[_-]key[_-]data|credentials?|(?<=[_\"'])auth|"
    r"(?:connection|access)[_-]?code"
)
_TAIL = (
    r"(?:[_-]?(?:prod|production|dev|staging|live|test|base|value|data|plain|b64|base64|[0-9]{1,3})"
    r"(?![A-Za-z0-9]))?"
)
_NAME = re.compile(
    rf"(?:(?P<password>{_PASSWORDS})|(?P<token>{_TOKENS})){_TAIL}(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_OPERATOR = re.compile(
    r"""[?!]?\\*["'`]?\]?[ \t]{0,16}(?P<op>:=|=>|={1,3}|:)[ \t]{0,16}(?P<quote>\\*(?:["'`]|&quot;))?"""
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
_WORD_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,64}\Z")


def find_assignments(text: str) -> Iterator[Span]:
    """Yield the values of suspicious names that are secrets themselves."""
    at = 0
    while (name := _NAME.search(text, at)) is not None:
        at = name.end()
        found = _value_after(text, name)
        if found is not None:
            yield found
            at = found.end


def is_secret_field(name: str, value: str) -> Strength | None:
    """Return what a data field holds when its name and its value say that it is a secret."""
    match = None
    for match in _NAME.finditer(f'"{name}'):  # noqa: B007 - the last one is wanted
        pass
    if match is None or match.end() != len(name) + 1 or _is_public(name):
        return None
    strength = _strength(match)
    return strength if is_secret_value(value, Setting(strength, literal=True)) else None


def _value_after(text: str, name: re.Match[str]) -> Span | None:
    prefix = _prefix(text, name.start())
    if _is_public(prefix) or text.endswith("//", 0, name.start() - len(prefix)):
        return None
    strength = _strength(name)
    if text.startswith(">", name.end()):
        return _judged(_ELEMENT.match(text, name.end()), strength, literal=True)
    operator = _OPERATOR.match(text, name.end())
    if operator is None:
        return _flag_value(text, name, prefix)
    if operator["quote"]:
        return _quoted_value(text, operator, strength)
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


def _bare_value(text: str, name: re.Match[str], operator: re.Match[str]) -> Span | None:
    strength = _strength(name)
    as_line = _is_line_setting(text, name, operator)
    match = (_LINE_BARE if as_line else _BARE).match(text, operator.end())
    if match is None or (not as_line and _CALL.match(text, match.end())):
        return None
    value = match[0].rstrip(";" if as_line else ".,:!?")
    if not is_secret_value(value, Setting(strength, literal=as_line)):
        return None
    cut = len(match[0]) - len(value)
    return Span(match.start(), _run_on(text, match) - cut, strength, Certainty.CONTEXT)


def _run_on(text: str, match: re.Match[str]) -> int:
    """Return the end of a value that may be longer than one look at it."""
    end = match.end()
    while (more := match.re.match(text, end)) is not None:
        end = more.end()
    return end


def _flag_value(text: str, name: re.Match[str], prefix: str) -> Span | None:
    """Return the value of ``--some-token VALUE``."""
    if not prefix.startswith("--"):
        return None
    return _judged(_FLAG.match(text, name.end()), _strength(name), literal=False)


def _judged(match: re.Match[str] | None, strength: Strength, *, literal: bool) -> Span | None:
    if match is None or not is_secret_value(match["value"], Setting(strength, literal=literal)):
        return None
    return Span(*match.span("value"), strength, Certainty.CONTEXT)


def _is_line_setting(text: str, name: re.Match[str], operator: re.Match[str]) -> bool:
    """Say whether this is a shell or .env line, where an unquoted word is a literal."""
    prefix = _prefix(text, name.start())
    whole = prefix + name[0]
    if operator[0] != "=" or whole != whole.upper():
        return False
    begin = name.start() - len(prefix)
    return _LINE_NAME.search(text, max(0, begin - 16), begin) is not None


def _prefix(text: str, start: int) -> str:
    match = _WORD_BEFORE.search(text, max(0, start - 64), start)
    return match[0] if match else ""


def _is_public(prefix: str) -> bool:
    return "public" in prefix.lower()


def _strength(name: re.Match[str]) -> Strength:
    return "password" if name["password"] else "token"
