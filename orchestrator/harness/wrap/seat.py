"""What a wrapped program's session needs of a front door: where it is shown, who types into it."""

from __future__ import annotations

from typing import Literal, Protocol

from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.stream import TerminalSize

Left = Literal["ended", "detached", "gone"]
"""The program ended; the person left it; the terminal, or who reads it, is gone."""


class Seat(Protocol):
    """A terminal, or a process's own streams."""

    @property
    def size(self) -> TerminalSize | None:
        """The terminal's size; None where the program gets pipes."""
        ...

    async def show(self, stream: BoxStream) -> Left:
        """Show a terminal and type into it, until either ends."""
        ...

    async def pipe(self, pipes: Pipes) -> Left:
        """Carry input, output and errors, until the program ends or nobody reads it any more."""
        ...
