"""What every event is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """The root of all events; ``type`` is the word in the line form."""

    type: ClassVar[str] = ""
