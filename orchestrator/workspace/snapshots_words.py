"""What a snapshot is, as people see it and as its file holds it. Data, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.workspace.snapshots_piece import Piece

Kind = Literal["start", "turn", "before", "rewound", "below", "apply"]
"""``before`` is taken by a rewind, so that it can be undone; ``rewound`` is what it led to. ``apply``
follows an apply; ``below`` comes before one, changes nothing, and keeps what the host had."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where in the conversation a snapshot belongs."""

    kind: Kind
    turn: int = 0
    """Answers of the model up to then on its path; 0 is before the first."""
    entry: str = ""
    """The session's entry of the last of them; empty before the first."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot as people see it."""

    number: int
    moment: Moment
    time: str
    """RFC 3339, UTC; for people."""
    added: int = 0
    modified: int = 0
    deleted: int = 0
    paths: tuple[str, ...] = ()
    """Some of the changed paths, raw."""
    restored: int = 0
    """Of ``rewound``: the number of the snapshot it brought back."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What a snapshot's file holds besides."""

    pieces: Mapping[str, Piece | None] = field(default_factory=dict)
    """Since the snapshot before, in the oldest all; None for what is gone."""
    below: Mapping[str, Piece | None] = field(default_factory=dict)
    """Of ``below``: what the host had at the paths that were applied, None where nothing."""
    whole: bool = False
    """The pieces are all there is, whatever was before."""
