"""Simple commands built by hand, for tests of what policy makes of them."""

from __future__ import annotations

from orchestrator.shell.analysis import Analysis, Finding, SimpleCommand, Span, Word

UNREAD = "\ufffc"
"""Marks, in a word given here, a part that is not static."""


def word(text: str, *, start: int = 0) -> Word:
    """Return a word; ``UNREAD`` in it is a part in quotes that is not static, ``*`` a glob."""
    static = UNREAD not in text
    return Word(
        text if static else None,
        text,
        (start, start + len(text)),
        glob=static and any(char in text for char in "*?["),
        shape=text,
    )


def split_word(text: str) -> Word:
    """Return a word whose part that is not static stands unquoted."""
    return Word(None, text, (0, len(text)), shape=text, splits=True)


def command(text: str, *, span: Span | None = None, **rest: object) -> SimpleCommand:
    """Return the command of words at single blanks."""
    words = tuple(word(item) for item in text.split(" "))
    program = words[0].value
    rest.setdefault("cwd", "/workspace")
    return SimpleCommand(
        words,
        span or (0, len(text)),
        program.rpartition("/")[2] if program else None,
        **rest,  # type: ignore[arg-type]
    )


def analysis(
    *commands: SimpleCommand, findings: tuple[Finding, ...] = (), **rest: object
) -> Analysis:
    """Return an analysis of these commands."""
    return Analysis("", commands, findings, **rest)  # type: ignore[arg-type]


class ScriptedReader:
    """Returns one analysis whatever it is asked, and keeps what it was asked."""

    def __init__(self, result: Analysis | Exception) -> None:
        self.result = result
        self.asked: list[tuple[str, str]] = []

    def __call__(self, command: str, *, cwd: str, **places: str) -> Analysis:
        self.asked.append((command, cwd))
        assert set(places) == {"home", "workspace"}
        if isinstance(self.result, Exception):
            raise self.result
        return self.result
