"""Values the harness knows, in every form that programs print them in."""

from __future__ import annotations

import base64
import html
import json
import shlex
import textwrap
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.redaction.known import KnownValues
from orchestrator.redaction.redactor import Redactor

from .conftest import made

SECRETS = [
    made(31),
    "with space/+&=\"'<>\\ end",
    "päss wörd ✓ 2026",
    made(90),
    "dots.and-dashes_of+a/key.0123==",
    'line one"\nline two',
]
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda s: quote(s, safe=""),
    "percent lower": lambda s: quote(s, safe="").replace("%C", "%c").replace("%2F", "%2f"),
    "percent twice": lambda s: quote(quote(s, safe=""), safe=""),
    "form": quote_plus,
    "json": lambda s: json.dumps(s)[1:-1],
    "json twice": lambda s: json.dumps(json.dumps(s))[2:-2],
    "html": html.escape,
    "shell": lambda s: shlex.quote(s).strip("'"),
    "hex": lambda s: s.encode().hex(),
    "hex upper": lambda s: s.encode().hex().upper(),
    "hex with colons": lambda s: s.encode().hex(":"),
    "hex upper with colons": lambda s: s.encode().hex(":").upper(),
    "lower case": str.lower,
    "upper case": str.upper,
    "every byte percent": lambda s: "".join(f"%{byte:02X}" for byte in s.encode()),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 url": lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
    "base64 in url": lambda s: quote(base64.b64encode(s.encode()).decode(), safe=""),
    "base64 of more": lambda s: base64.b64encode(f"user:{s}@host".encode()).decode(),
    "base64 of two more": lambda s: base64.b64encode(f"us:{s}".encode() + b"!").decode(),
    "base64 wrapped": lambda s: textwrap.fill(base64.b64encode(s.encode()).decode(), 20),
    "coloured": lambda s: f"{s[:5]}\x1b[01;31m{s[5:9]}\x1b[m{s[9:]}",
}  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
@pytest.mark.parametrize("form", FORMS)
def test_known_value_is_found_in_every_form(secret: str, form: str) -> None:
    """No part of it that would give it away is left."""
    printed = FORMS[form](secret)

    result = Redactor({"MY_KEY": secret}, key=bytes(32)).redact(f"<{printed}>")

    assert "[redacted:my-key:" in result
    longest = max(len(piece) for piece in result.replace("]", "[").split("[")[::2])
    assert longest <= 16
    assert printed not in result


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=8, max_size=40))
def test_any_known_value_is_found_plain_and_in_base64(secret: str) -> None:
    """Whatever the value is made of."""
    secret = secret.strip()
    if len(secret) < 8:
        return
    redactor = Redactor({"key": secret}, key=bytes(32))
    encoded = base64.b64encode(secret.encode()).decode()

    assert secret not in redactor.redact(f"a {secret} b")
    assert encoded not in redactor.redact(f"a {encoded} b")


def test_wrapped_value_is_found() -> None:
    """A terminal's line break inside a value hides nothing."""
    secret = made(40)

    result = Redactor({"key": secret}).redact(f"> {secret[:17]}\n  {secret[17:]} <")

    assert secret[:17] not in result
    assert secret[17:] not in result


def test_each_line_of_a_key_is_found() -> None:
    """A multi-line key does not leak line by line."""
    lines = [made(64), made(60), made(40)]

    result = Redactor({"key": "\n".join(lines)}).redact(f"grep: 7:{lines[1]}")

    assert lines[1] not in result


def test_longer_of_two_values_is_found_whole() -> None:
    """A value that begins like another leaves no end behind."""
    short, long = made(20), made(20) + "tail-of-it"

    result = Redactor({"a": short, "b": long}).redact(f"x {long} y {short} z")

    assert "tail-of-it" not in result
    assert result.count("[redacted:") == 2


def test_short_value_is_named_and_left_alone() -> None:
    """Seven characters occur by chance; the person is told."""
    redactor = Redactor({"PIN": "1234567", "EMPTY": "", "OK": "12345678"})

    assert redactor.too_short == ("PIN",)
    assert redactor.redact("1234567") == "1234567"
    assert redactor.redact("12345678") != "12345678"


def test_value_is_found_across_windows() -> None:
    """Large texts are searched in parts that overlap."""
    secret = made(31)
    text = "x" * (2**20 - 10) + secret + "y" * 100

    assert secret not in Redactor({"key": secret}).redact(text)


def test_trailing_line_feed_of_a_value_does_not_matter() -> None:
    """Secrets read from files end with one."""
    assert made(20) not in Redactor({"key": made(20) + "\n"}).redact(f"x{made(20)}y")


@pytest.mark.parametrize(
    ("tail", "start"),
    [
        ("", 5),
        ("f", 4),
        ("f4Jg", 4),
        ("f4JgM7Sw\nPY", 4),
        ("f4JgM7SwX", 5),
        ("f4\n", 5),
        ("%664Jg", 4),
        ("f4JgM7Sw%5", 4),
        ("f4JgM7Sw%255", 4),
    ],
)
def test_open_tail_is_where_a_value_may_begin(tail: str, start: int) -> None:
    """A stream must hold back exactly what could go on to be a value."""
    known = KnownValues({"key": "f4JgM7SwPYiIZjkf"})
    text = f"....{tail}" if tail else "....."

    assert known.open_tail(text) == (start if start < 5 else len(text))


def test_nothing_known_finds_nothing() -> None:
    """Without keys there is nothing to search."""
    assert list(KnownValues({}).find("text")) == []
    assert KnownValues({}).open_tail("text") == 4
