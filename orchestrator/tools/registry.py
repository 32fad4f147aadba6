"""The shipped tools by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from orchestrator.errors import ConfigError
from orchestrator.tools.bash import BashTool
from orchestrator.tools.edit import EditTool
from orchestrator.tools.find import FindTool
from orchestrator.tools.grep import GrepTool
from orchestrator.tools.ls import ListTool
from orchestrator.tools.process import ProcessTool
from orchestrator.tools.read import ReadTool
from orchestrator.tools.tool import Tool
from orchestrator.tools.write import WriteTool

_BUILDERS: dict[str, Callable[[], Tool]] = {
    "read": ReadTool,
    "write": WriteTool,
    "edit": EditTool,
    "bash": BashTool,
    "grep": GrepTool,
    "find": FindTool,
    "ls": ListTool,
    "process": ProcessTool,
}

BUILTIN_NAMES = tuple(_BUILDERS)
"""Every shipped tool."""

DEFAULT_NAMES = ("read", "write", "edit", "bash")
"""The tools on offer when nothing else is said; grep, find and ls are ways to say what bash can,
and not every task needs a process that outlives its call."""


def builtin_tools(names: Iterable[str] = DEFAULT_NAMES) -> tuple[Tool, ...]:
    """Return the tools in the order named, each once; raises ConfigError for an unknown name."""
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in _BUILDERS:
            close = difflib.get_close_matches(name, BUILTIN_NAMES, n=1)
            meant = f", did you mean {close[0]}?" if close else ""
            raise ConfigError(
                f"tools: unknown tool {name!r}{meant}", hint=f"known: {', '.join(BUILTIN_NAMES)}"
            )
    return tuple(_BUILDERS[name]() for name in chosen)
