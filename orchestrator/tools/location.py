"""A path as a model gives it, as an absolute path in the box."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from orchestrator.tools.tool import ToolContext

HOME = "/home/agent"
"""HOME of commands in the box."""


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain NUL")
    return text


NonEmpty = Annotated[str, Field(min_length=1), AfterValidator(_without_nul)]
"""A string that becomes a path or an argument of a program: not empty, no NUL."""


def locate(path: str, context: ToolContext) -> str:
    """Return the absolute path; ``~`` is the box's HOME, dots and links are left to the box."""
    if path.startswith("/"):
        return path
    if path == "~" or path.startswith("~/"):
        return HOME + path[1:]
    return context.workdir if path == "." else f"{context.workdir}/{path.removeprefix('./')}"
