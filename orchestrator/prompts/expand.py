"""``/name words`` into the text of a template; whatever else was said stays as it is. Pure."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from orchestrator.errors import PromptError
from orchestrator.prompts.arguments import SAID, bind_words
from orchestrator.prompts.library import Library

_CALL = re.compile(r"/([a-z0-9][a-z0-9_-]{0,63})(?:\s+(.*))?\Z", re.DOTALL)
LIKENESS = 0.8
"""From which on a name is taken for a misspelt one, and not for a path."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a call of a template comes to."""

    name: str
    text: str
    source: str


def expand(text: str, library: Library) -> Expansion | None:
    """Return what is to be said instead; None where ``text`` calls no template.

    Only a name by itself is a call, so that a path is none, and ``//name`` never is: see
    ``literal``. Raises PromptError for a misspelt name, and for words that a template does not take.
    """
    call = _CALL.match(text.strip())
    if call is None:
        return None
    name, said = call[1], (call[2] or "").strip()
    known = library.names()
    if name not in known and name not in library.faults:
        if close := difflib.get_close_matches(name, known, n=1, cutoff=LIKENESS):
            raise PromptError(
                f"no template is called {name}",
                hint=f"did you mean /{close[0]}? //{name} says it as it is",
            )
        return None
    template = library.get(name)
    declared, values = template.head.arguments, {}
    if declared or not template.takes_said:
        values = bind_words(declared, said, usage=template.usage)
    return Expansion(name, library.filled(template, values | {SAID: said}), template.source)


def called_name(text: str) -> str | None:
    """Return the name that a text calls, whether anything is called so or not."""
    call = _CALL.match(text.strip())
    return call[1] if call else None


def literal(text: str) -> str:
    """Return what is said as it is: ``//name`` stands for ``/name``."""
    return (
        text[1:] if _CALL.match(text.strip().removeprefix("/")) and text.startswith("//") else text
    )
