"""Command text that is made to look like something else than it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from orchestrator.shell.analysis import Finding, Span

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BIDI = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u2028\u2029\u2060-\u2065\u206a-\u206f"
    r"\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff\U000f0000-\U0010ffff\ud800-\udfff]"
)
_JOINER = re.compile(
    r"(?<![\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
)
_SELECTOR = re.compile(
    r"(?<![\u0023\u002a\u0030-\u0039\u00a9\u00ae\u2010-\u2bff\u3000-\u32ff\U0001f000-\U0001faff])[\ufe00-\ufe0f]"
)
_SPACE = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_DASHED = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+\w")
_BLANKS = re.compile(r"(?<![ \t])[ \t]{100,}+(?=\S)|(?<![ \t\n])(?:[ \t]*+\n){20,}+(?=[ \t]*+\S)")
_URL_HOST = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}+://(?:[^\s/@'\"]*+@)?([^\s/:?#'\"]+)", re.IGNORECASE
)
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏвкмнтАВЕКМНОРСТУХІЈЅαονιρυκχτβγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑⅼⅰ",
    "aeopcyxijsdhlbkmhtABEKMHOPCTYXIJSaoviпukxtbyABEZHIKMNOPTYXigali".replace("п", "p"),
)


def find_evasion(text: str) -> Iterator[Finding]:
    """Yield hidden characters and padding anywhere in the text."""
    plain = text.isascii()
    yield from _each(_CONTROL, text, "a control character")
    yield from _each(_BLANKS, text, "padding that pushes text out of sight")
    if plain:
        return
    yield from _each(_BIDI, text, "a character that reverses the direction of text")
    yield from _each(_INVISIBLE, text, "an invisible character")
    yield from _each(_JOINER, text, "an invisible joiner")
    yield from _each(_SELECTOR, text, "an invisible selector")
    for match in _URL_HOST.finditer(text):
        if is_lookalike(match[1]):
            yield _evasion("a host name with letters of another script", match.span(1))


def judge_word(text: str, span: Span, *, program: bool) -> Iterator[Finding]:
    """Yield what is wrong with an unquoted word: foreign blanks, dashes, look-alike letters."""
    if text.isascii():
        return
    if _SPACE.search(text):
        yield _evasion("a blank that the shell does not take for one", span)
    if _DASHED.match(text):
        yield _evasion("a dash that no program takes for an option's", span)
    if program and is_lookalike(text):
        yield _evasion("a program name with letters of another script", span)


def is_lookalike(text: str) -> bool:
    """Say whether a name mixes scripts, or is foreign but looks like ASCII."""
    if text.isascii():
        return False
    if unicodedata.normalize("NFKC", text).translate(_LOOKALIKES).isascii():
        return True
    scripts = {unicodedata.name(char, "?").split(" ")[0] for char in text if char.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})


def _each(pattern: re.Pattern[str], text: str, what: str) -> Iterator[Finding]:
    for match in list(pattern.finditer(text))[:20]:
        yield _evasion(f"{what} ({_named(match[0])})", match.span())


def _named(text: str) -> str:
    return f"{len(text)} blanks" if text.isspace() else f"U+{ord(text[0]):04X}"


def _evasion(reason: str, span: Span) -> Finding:
    return Finding(
        "evasion", f"the text hides something: {reason}", span, severity="high",
        hint="write the command in plain visible characters",
    )  # fmt: skip
