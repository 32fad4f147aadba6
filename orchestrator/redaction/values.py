"""Is this value a secret, or a name, a reference, a type, a sample? Pure judgement of one value.

The name it is assigned to is suspicious already; the questions here keep code, prose and
templates readable. In doubt about a literal the answer is yes: a placeholder can be restored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Strength = Literal["password", "token"]
"""Passwords may be short and worded; tokens are long and made by machines."""

_REFERENCE = re.compile(
    r"\$[({]|\$[A-Za-z_]\w*\Z|\$env:|[<{%\[(].*[>})\]%]\Z|%[sdvq]\Z|%\(|\{\{|<%|#\{|@@|"
    r"[&*!][A-Za-z_][\w./-]*\Z|--?[A-Za-z]"
)
_SCHEME = re.compile(
    r"(?i)(?:https?|file|env|vault|op|ssm|arn|secrets?|keyring|aws|gcp|azure|sops|ref|kms|"
    r"secretsmanager|keyvault|bws|doppler|pass|bitwarden|lastpass|git|ssh|docker|data):"
)
_SAMPLE = re.compile(
    r"(?i)change[-_ ]?(?:me|it|this)|placeholder|replace[-_ ]?(?:me|with|this)|insert[-_ ]|"
    r"redacted|\.\.\.|…|(?:^|[^a-z])(?:your|dummy|fake|todo|sample|example|not[-_ ]?set)(?![a-z]*\d)|"
    r"^(?:my|the|some|a|an|test|foo|bar)[-_ ][a-z_-]+$|^your"
)
_SAMPLE_END = ("EXAMPLE", "EXAMPLEKEY")
_KEYWORD = re.compile(
    r"(?i)passw(?:or)?d|passphrase|secret|token|api[-_]?key|credential|access[-_]?key|pwd"
)
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@ -]*)+\Z|[A-Za-z]:\\|[\w.-]+/[\w./-]*\.[a-z]{2,5}\Z")
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_$][A-Za-z_$]*\d{0,3})+\Z|.*(?:=>|->|\(\)|::)"
)
_WORD = r"(?:[A-Za-z]{1,24}\d{0,3}|\d{1,6})"
_WORDS = re.compile(rf"[A-Za-z]{{1,24}}\d{{0,3}}(?:[-_. /:]{_WORD})*\Z")
_CAMEL = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+){0,6}\d{0,3}\Z|[A-Z]+\d{0,3}\Z|\d+\Z")
_STOP = frozenset(
    [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "yes",
        "no",
        "on",
        "off",
        "string",
        "str",
        "text",
        "number",
        "integer",
        "int",
        "boolean",
        "bool",
        "bytes",
        "any",
        "object",
        "array",
        "list",
        "dict",
        "optional",
        "required",
        "missing",
        "empty",
        "blank",
        "unset",
        "default",
        "enabled",
        "disabled",
        "present",
        "absent",
        "invalid",
        "valid",
        "incorrect",
        "correct",
        "expired",
        "wrong",
        "unknown",
        "hidden",
        "masked",
        "encrypted",
        "plain",
        "plaintext",
        "hashed",
        "prompt",
        "stdin",
        "ask",
        "auto",
        "automatic",
        "generated",
        "random",
        "inherit",
        "env",
        "environment",
        "file",
        "manual",
        "never",
        "always",
        "basic",
        "bearer",
        "password",
        "passwd",
        "secret",
        "token",
        "secretstr",
        "char",
        "varchar",
        "nvarchar",
        "optionalstr",
        "type",
        "label",
        "input",
        "test",
        "root",
        "admin",
        "user",
    ]
)
_MIN_PASSWORD = 4
_MIN_WORD_PASSWORD = 6
_PASSPHRASE_WORDS = 3
_MIN_TOKEN = 8
_MIN_LETTERS_TOKEN = 12
_MIN_KEY_BYTES = 30
_MAX_SLASHES = 4
_FEW = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """How a value was written."""

    strength: Strength
    literal: bool
    """Quoted, or in a form such as NAME=value where code cannot stand."""


def is_secret_value(value: str, setting: Setting) -> bool:
    """Say whether a value assigned to a suspicious name is the secret itself."""
    if len(value) < _MIN_PASSWORD or is_reference(value):
        return False
    if setting.strength == "token":
        return looks_random(value)
    return _is_password(value, literal=setting.literal)


def is_reference(value: str) -> bool:
    """Say whether a value points to a secret, samples one or masks one, rather than being one."""
    if "[redacted:" in value or is_masked(value) or value.endswith(_SAMPLE_END):
        return True
    if value.lower() in _STOP or _SCHEME.match(value) or _SAMPLE.search(value):
        return True
    if any(pattern.match(value) for pattern in (_REFERENCE, _CODE)):
        return True
    return _PATH.match(value) is not None and not _looks_like_key_bytes(value)


def is_masked(value: str) -> bool:
    """Say whether a value is only a mask: stars, dots, or one or two signs repeated."""
    return len(set(value.strip("-_."))) <= _FEW


def looks_random(value: str) -> bool:
    """Say whether a value was made by a machine: long, mixed, and no words."""
    if len(value) < _MIN_TOKEN or " " in value or _is_worded(value):
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    mixed_case = value.lower() != value and value.upper() != value
    return has_letter and (has_digit or (mixed_case and len(value) >= _MIN_LETTERS_TOKEN))


def _is_password(value: str, *, literal: bool) -> bool:
    if " " in value:
        return False
    plain_word = value.isalpha() or _WORDS.match(value) is not None
    if plain_word and _KEYWORD.search(value):
        return False
    if value.isdigit():
        return len(value) >= _MIN_WORD_PASSWORD
    letters_only = all(char.isalpha() or char in "-_." for char in value)
    if not letters_only:
        return True
    if not value.isalpha():
        # A few words joined are a passphrase; two, or dotted ones, are somebody's name for it.
        return literal and "." not in value and len(re.split("[-_]", value)) >= _PASSPHRASE_WORDS
    return len(value) >= _MIN_WORD_PASSWORD if literal else looks_random(value)


def _is_worded(value: str) -> bool:
    return _WORDS.match(value) is not None and all(
        _CAMEL.match(piece) for piece in re.split(r"[-_. /:]", value)
    )


def _looks_like_key_bytes(value: str) -> bool:
    """A key in base64 may begin with a slash: told from a path by its mixture."""
    return (
        len(value) >= _MIN_KEY_BYTES
        and value.count("/") <= _MAX_SLASHES
        and any(char.isdigit() for char in value)
        and any(char.islower() for char in value)
        and any(char.isupper() for char in value)
    )
