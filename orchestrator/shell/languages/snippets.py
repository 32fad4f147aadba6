"""Code in Perl, Ruby, JavaScript, PHP, awk, Lua and others, by the calls that leave the language.

These have no parser here. Text in quotes and comments is masked before calls are looked for, so
that a word inside a message triggers nothing; the arguments are then taken from the unmasked code.
The calls are data: ``tables/languages.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict

from orchestrator.schema.decision import Risk
from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.programs import read_table
from orchestrator.shell.quoting import DYNAMIC

_MAX_CODE = 8_000
"""Patterns may look at every place once for every other one; longer code is not read."""

_MAX_EMBEDDED = 3
"""Levels of code in strings in code."""

_STRING = re.compile(r"""(['"`])((?:\\.|(?!\1)[^\\])*)\1""", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*\(?\s*(?:(['"`])((?:\\.|(?!\1)[^\\])*)\1|(\w[\w.]*))""", re.DOTALL)
_REGEX = (
    r"(?P<head>(?:^|[(,=!&|?:;{}~\[]|\b(?:if|unless|split|grep|and|or|not|return|when|while|until|in))\s*)"
    r"/(?:\\.|[^/\\\n])+/"
)
_JOINT = re.compile(r"[\s.+~]*+(?:[$@\w\[\]]++\s*+[.+~]\s*+)?")
"""Between strings that are put together: an operator or nothing, or a value between two of them."""
_GOES_ON = re.compile(r"\s*(?:[.+~]{1,2}|(?=[$\w]))\s*[$@\w(]")
_ESCAPE = re.compile(
    r"\\(?:x\{?([0-9a-fA-F]{1,6})\}?|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "f": "\f",
    "v": "\v",
    "b": "\b",
    "a": "\a",
    "e": "\x1b",
    "\n": "",
}
_LAST_CODE_POINT = 0x10FFFF
_INTERPOLATED = re.compile(r"\$\{[^}]*\}|#\{[^}]*\}|(?<!\\)[$@]\w+")


class Call(BaseModel):
    """A call that leaves the language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    find: str
    """A pattern in masked code; the argument is its group ``arg``, or begins where it ends."""
    unmasked: bool = False
    """The pattern looks into strings, though it begins outside of one."""
    act: (
        Literal["shell", "pipe", "argv", "delete", "delete_tree", "write", "read", "move", "code"]
        | None
    ) = None
    """What is done with the first argument; ``code`` runs it in the same language."""
    risk: Risk | None = None
    """Risky whatever the arguments."""
    reason: str = ""


class Language(BaseModel):
    """How a language writes strings and comments, and its calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    comment: str = ""
    regexes: bool = False
    """``/…/`` is a pattern where an operand may stand."""
    piped: bool = False
    """What ``runs`` finds gets text on its standard input."""
    quotes: str = "'\"`"
    """Marks of strings that are data."""
    runs: tuple[str, ...] = ()
    """Patterns whose last group is shell text: backticks, %x{…}."""
    embeds: tuple[str, ...] = ()
    """Patterns, in strings too, after which code of the same language stands up to a brace: ``#{``."""
    interpolates: str = '"`'
    """Quotes in which ``$x`` or ``#{x}`` is filled in."""
    calls: tuple[Call, ...] = ()


@cache
def languages() -> dict[str, Language]:
    """Return the table, validated."""
    file = resources.files("orchestrator.shell").joinpath("tables/languages.yaml")
    return {name: Language.model_validate(entry) for name, entry in read_table(file).items()}


def read_snippet(code: str, language: Language, *, depth: int = 0) -> list[Effect]:
    """Return the effects of code in a language of the table."""
    if len(code) > _MAX_CODE:
        return [Effect("opaque", 0, len(code), reason="more code than is read")]
    return list(_effects(code, language, depth))


@dataclass(frozen=True, slots=True)
class _Source:
    """Code, and the same with its strings and comments blanked."""

    code: str
    masked: str
    language: Language
    depth: int


def _effects(code: str, language: Language, depth: int) -> Iterator[Effect]:
    if DYNAMIC in code:
        yield Effect("opaque", 0, len(code), reason="parts of the code are not in the command")
    masked = _mask(code, language)
    source = _Source(code, masked, language, depth)
    for text in language.runs:
        pattern = _compiled(text)
        found = _live(pattern, source) if "`" in text else pattern.finditer(masked)
        for match in found:
            start, end = match.span(match.lastindex or 0)
            kind: Literal["shell", "pipe"] = "pipe" if language.piped else "shell"
            yield Effect(kind, match.start(), match.end(), text=code[start:end])
    yield from _embedded(source)
    for call in language.calls:
        pattern = _compiled(call.find)
        for match in _live(pattern, source) if call.unmasked else pattern.finditer(masked):
            yield from _called(call, match, source)


def _embedded(source: _Source) -> Iterator[Effect]:
    """Yield what code in strings does."""
    if source.depth > _MAX_EMBEDDED:
        if any(_compiled(text).search(source.code) for text in source.language.embeds):
            yield Effect("opaque", 0, len(source.code), reason="code in strings in code")
        return
    for text in source.language.embeds:
        match = _compiled(text).search(source.code)
        while match is not None:
            # What lies inside is left to the next level, else nesting would be read many times.
            end = _brace_end(source.code, match.end())
            inner = source.code[match.end() : end]
            for effect in _effects(inner, source.language, source.depth + 1):
                yield replace(effect, start=match.start(), end=end)
            match = _compiled(text).search(source.code, end)


def _brace_end(code: str, at: int) -> int:
    """Return where the brace that was opened before ``at`` is closed, or the end."""
    depth = 1
    for index in range(at, len(code)):
        depth += (code[index] == "{") - (code[index] == "}")
        if depth == 0:
            return index
    return len(code)


def _live(pattern: re.Pattern[str], source: _Source) -> Iterator[re.Match[str]]:
    """Yield what is found in the code itself and begins outside of strings and comments."""
    match = pattern.search(source.code)
    while match is not None:
        start, end = match.span()
        live = source.masked[start : start + 1] == source.code[start : start + 1]
        if live:
            yield match
        match = pattern.search(source.code, max(end, start + 1) if live else start + 1)


def _called(call: Call, match: re.Match[str], source: _Source) -> Iterator[Effect]:
    span = match.start(), match.end()
    if call.risk is not None:
        yield Effect(call.risk, *span, reason=call.reason or f"calls {match[0].strip()}")
    if call.act is None:
        return
    if "arg" in match.re.groupindex:
        argument, end = match["arg"], match.end()
    else:
        argument, end = _first_argument(source, match.end())
    if call.act == "code":
        if DYNAMIC in argument or source.depth > 3:
            yield Effect("opaque", *span, reason="runs code that is computed")
        else:
            yield from read_snippet(argument, source.language, depth=source.depth + 1)
    elif call.act == "argv":
        yield _started(_all_arguments(source, match.end()), (match.start(), end))
    elif call.act in {"shell", "pipe"} and (joined := _joined(source, match.end())):
        yield Effect(call.act, match.start(), end, text=joined)
    elif call.act in {"shell", "pipe"} and (words := _all_arguments(source, match.end()))[1:]:
        yield Effect("argv", match.start(), end, words=words)
    else:
        yield Effect(call.act, match.start(), end, text=argument)


def _started(words: tuple[str, ...], span: tuple[int, int]) -> Effect:
    """Return the start of a program; Java's exec takes a whole line, others have no such names."""
    if len(words) == 1 and " " in words[0]:
        return Effect("shell", *span, text=words[0])
    return Effect("argv", *span, words=words)


def _first_argument(source: _Source, at: int) -> tuple[str, int]:
    """Return the first argument, with U+FFFC for what is not a string in it."""
    code, language = source.code, source.language
    match = _ARGUMENT.match(code, at)
    if match is None:
        return DYNAMIC, at
    if match[1] is not None:
        return _content(match[1], match[2], language), match.end()
    stop = _argument_end(source.masked, match.start(3))
    pieces = [_content(mark, text, language) for mark, text in _STRING.findall(code[at:stop])]
    return DYNAMIC + "".join(pieces), stop


def _argument_end(code: str, at: int) -> int:
    depth = 0
    for index in range(at, len(code)):
        if code[index] in "([{":
            depth += 1
        elif code[index] in ")]}":
            depth -= 1
            if depth < 0:
                return index
        elif code[index] in ",;\n" and depth == 0:
            return index
    return len(code)


def _all_arguments(source: _Source, at: int) -> tuple[str, ...]:
    """Return the string arguments up to the end of the call; others are not static."""
    code, language = source.code, source.language
    stop = _call_end(source.masked, at)
    words: list[str] = []
    last = at
    for match in _STRING.finditer(code, at, stop):
        between = code[last : match.start()]
        if re.search(r"\w", between) and not words:
            words.append(DYNAMIC)
        words.append(_content(match[1], match[2], language))
        last = match.end()
    return tuple(words) or (DYNAMIC,)


def _joined(source: _Source, at: int) -> str:
    """Return the one argument that several strings make, such as ``"a" . "b"``; else nothing."""
    code, language = source.code, source.language
    stop = _call_end(source.masked, at)
    strings = list(_STRING.finditer(code, at, stop))
    between = [code[one.end() : two.start()] for one, two in pairwise(strings)]
    goes_on = bool(strings) and _GOES_ON.match(code, strings[-1].end(), stop) is not None
    if not (between or goes_on) or not all(_JOINT.fullmatch(gap) for gap in between):
        return ""
    gaps = [code[at : strings[0].start()], *between]
    text = "".join(
        (DYNAMIC if re.search(r"\w", gap) else "") + _content(match[1], match[2], language)
        for gap, match in zip(gaps, strings, strict=True)
    )
    return text + DYNAMIC if goes_on else text


def _call_end(code: str, at: int) -> int:
    depth = 0
    for index in range(at, len(code)):
        if code[index] in "([{":
            depth += 1
        elif code[index] in ")]}":
            depth -= 1
            if depth <= 0:
                return index
        elif code[index] in ";\n" and depth == 0:
            return index
    return len(code)


def _content(mark: str, text: str, language: Language) -> str:
    if mark in language.interpolates:
        text = _INTERPOLATED.sub(DYNAMIC, text)
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    """Return the character that an escape in a string stands for."""
    number = match[1] or match[2] or match[3]
    if number is not None:
        return chr(int(number, 16)) if int(number, 16) <= _LAST_CODE_POINT else DYNAMIC
    if match[4] is not None:
        return chr(int(match[4], 8) & 0xFF)
    return _ESCAPED.get(match[5], match[5])


def _mask(code: str, language: Language) -> str:
    """Return the code with the content of strings and comments blanked, offsets kept."""
    pieces = [language.comment] if language.comment else []
    if language.quotes:
        marks = re.escape(language.quotes)
        pieces.insert(0, rf"(?P<q>[{marks}])(?:\\.|(?!(?P=q))[^\\])*(?P=q)")
    if language.regexes:
        pieces.append(_REGEX)
    return _compiled("|".join(pieces)).sub(_blank, code) if pieces else code


def _blank(match: re.Match[str]) -> str:
    whole = match[0]
    head = match.groupdict().get("head")
    if head is not None:
        return head + " " * (len(whole) - len(head))
    return whole[0] + " " * (len(whole) - 2) + whole[-1] if len(whole) > 1 else " "


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text, re.DOTALL | re.MULTILINE)
