"""What a piece of code in another language does, in terms of the shell's gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.schema.decision import Risk

Act = Literal[
    "shell",  # runs ``text`` through a shell
    "pipe",  # runs ``text`` through a shell and writes into it
    "argv",  # runs ``words`` as a program
    "delete",  # removes one file, ``text``
    "delete_tree",  # removes a tree, ``text``
    "move",  # moves ``text`` away
    "write",  # writes the file ``text``
    "read",  # reads the file ``text``
    "python",  # runs ``text`` as Python
]

Kind = Act | Risk
"""An act to be judged by its text or words, or a risk that is plain from the code."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One act found in code; ``text`` has U+FFFC where it is not static."""

    kind: Kind
    start: int
    end: int
    """Offsets in the code."""
    text: str = ""
    words: tuple[str, ...] = ()
    reason: str = ""
