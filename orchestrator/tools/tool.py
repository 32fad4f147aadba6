"""The Protocol of a tool: plan a Request, put an Outcome into words. A tool never acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from orchestrator.schema.message import Image, ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import Request


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a plan may depend on."""

    workdir: str
    """Absolute path of the workspace in the box; relative paths start here."""
    max_timeout_s: float = 600.0
    """The policy's upper limit for one command."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A result split in two: ``output`` for the model, ``details`` for the person."""

    output: str
    details: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
    images: tuple[Image, ...] = ()


class ArgumentError(Exception):
    """Raised by ``plan``; the message tells the model field by field what is wrong."""


class Tool(Protocol):
    """One tool."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        ...

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return what the call would do; raises ArgumentError."""
        ...

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return the outcome in words."""
        ...
