"""Arguments that a program finds at run time, where the command shows what they will be. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import Invocation
from orchestrator.shell.knowledge import Wrap
from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC

_MAX_FED = 24
"""Words of a known input that are tried; more are told by what is not known of them."""


def fed_commands(use: Invocation, wraps: Wrap, feed: Output) -> list[list[Word]]:
    """Return the commands that ``xargs`` makes of an input that stands in the command."""
    texts = (feed.text or "").split() if feed.kind == "text" else []
    if len(texts) > _MAX_FED:
        return []
    values = [Word(text, "", feed.span, shape=text) for text in texts if DYNAMIC not in text]
    if not use.has(*wraps.placeholder):
        return [[*use.tail, *values]] if values else []
    marks = [mark.shape for mark in use.values(*wraps.placeholder)] or [wraps.replaces]
    return [[filled(word, marks, value.shape) for word in use.tail] for value in values]


def names_sought(use: Invocation) -> list[str]:
    """Return the names that find looks for, where it is plain that it does."""
    if use.has("-prune", "-not") or any(word.shape == "!" for word in use.operands):
        return []
    values = use.values("-name", "-iname", "-path", "-ipath")
    return [word.shape.rpartition("/")[2] for word in values if word.value and not word.glob]


def filled(word: Word, marks: Sequence[str], text: str) -> Word:
    """Return the word with a text in place of every mark."""
    shape = word.shape
    for mark in marks:
        shape = shape.replace(mark, text) if mark else shape
    if shape == word.shape:
        return word
    return replace(word, value=None if DYNAMIC in shape else shape, raw="", shape=shape)
