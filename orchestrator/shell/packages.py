"""A package.json that stands in a command: its scripts are shell text, run by their names."""

from __future__ import annotations

import json

from orchestrator.shell.output import NOTHING
from orchestrator.shell.part import Part
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scripts import run_file
from orchestrator.shell.setting import Code
from orchestrator.shell.source import Anchor

_INSTALLS = frozenset({"install", "i", "ci", "add", "install-test", "it", "clean-install", "ic"})
_ON_INSTALL = ("preinstall", "install", "postinstall", "prepublish", "prepare", "dependencies")


def judge_package(part: Part) -> None:
    """Read the scripts that this use runs, those around it and those of an install included."""
    path = part.path
    content = part.site.scope.files.get(path) if path is not None else None
    if content is None:
        return
    if content.text is None or DYNAMIC in content.text:
        # Fetched, or with parts that are not in the command: judged like a script of that kind.
        run_file("shell", part.word, part.site)
        return
    names = [*part.use.sub, *(word.shape for word in part.use.operands)]
    wanted = {prefix + name for name in names for prefix in ("", "pre", "post")}
    if not names or _INSTALLS & set(names):
        wanted.update(_ON_INSTALL)
    for name, text in _scripts(content.text).items():
        if name in wanted:
            code = Code(text, Anchor(part.word.span, None))
            site = part.site.inner(f"script {name}", feed=NOTHING).forked()
            part.site.nested.shell(code, site)


def _scripts(text: str) -> dict[str, str]:
    """Return the scripts by name; none where it is not what npm would take either."""
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return {}
    if not isinstance(scripts, dict):
        return {}
    return {name: script for name, script in scripts.items() if isinstance(script, str)}
