"""What files hold that this very command wrote, in case the same command runs them."""

from __future__ import annotations

from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import Content, Scope


def remember(path: str, output: Output, scope: Scope, *, append: bool) -> None:
    """Keep what a file holds once ``output`` went into it."""
    absolute = scope.absolute(path)
    if absolute is None or DYNAMIC in absolute:
        return
    if output.kind == "download":
        scope.files[absolute] = Content("download")
    elif output.kind == "decoded":
        scope.files[absolute] = Content("decoded")
    elif output.kind == "text" and output.text is not None:
        before = scope.files.get(absolute) if append else None
        if before is not None and before.kind != "text":
            return
        text = (before.text or "") if before is not None else ""
        known = DYNAMIC not in output.text
        scope.files[absolute] = Content("text", text + output.text if known else None)
