"""Tools turn a model's arguments into a Request and an Outcome into words; they never act."""

from __future__ import annotations

from orchestrator.tools.registry import BUILTIN_NAMES, DEFAULT_NAMES, builtin_tools
from orchestrator.tools.tool import ArgumentError, Rendered, Tool, ToolContext

__all__ = [
    "BUILTIN_NAMES",
    "DEFAULT_NAMES",
    "ArgumentError",
    "Rendered",
    "Tool",
    "ToolContext",
    "builtin_tools",
]
