"""What a command prints, as far as it matters to whoever runs that text as code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.shell.analysis import Span

Kind = Literal["none", "text", "download", "decoded", "file", "data", "paths"]


@dataclass(frozen=True, slots=True)
class Output:
    """A stream's content: its text where that is static, else where it comes from."""

    kind: Kind = "none"
    text: str | None = None
    """For ``text``: the content, U+FFFC in place of what is not static."""
    span: Span = (0, 0)
    """Where the text stands in the command."""
    raw: str = ""
    """The text at ``span`` as written, to find code inside it."""
    producer: str | None = None
    """The program that prints it."""
    reads_files: bool = False
    """It holds what was read from files."""


NOTHING = Output()


def join_outputs(first: Output, second: Output) -> Output:
    """Return what two statements in a row print."""
    if first.kind == "none":
        return second
    if second.kind == "none":
        return first
    if "download" in {first.kind, second.kind}:
        return Output("download")
    if first.kind == second.kind == "text" and first.text is not None and second.text is not None:
        return Output("text", first.text + second.text, first.span)
    return Output("data", reads_files=first.reads_files or second.reads_files)
