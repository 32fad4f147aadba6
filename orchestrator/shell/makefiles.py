"""Makefiles that stand in a command: recipes and ``$(shell …)`` are shell text."""

from __future__ import annotations

import re

from orchestrator.shell.output import NOTHING
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.source import Anchor

_SHELL_TEXT = re.compile(
    r"^\t([^\n]+)|^[^\t#=:\n]*::?[^=;\n]*;([^\n]+)|\$\(shell ([^)]*)\)|!=([^\n]+)", re.MULTILINE
)
_VARIABLE = re.compile(r"(\$\$)|\$\([^()]*\)|\$\{\w+\}|\$[@<^*?%+]|\$\w")


def read_makefile(code: Code, site: Site) -> None:
    """Read every recipe line, ``$(shell …)`` and ``!=`` of a makefile."""
    for match in _SHELL_TEXT.finditer(code.text):
        text = next(group for group in match.groups() if group is not None)
        recipe = _VARIABLE.sub(lambda found: "$" if found[1] else DYNAMIC, text.lstrip("@-+ \t"))
        anchor = Anchor(code.anchor.span, None)
        site.nested.shell(Code(recipe, anchor), site.inner("make", feed=NOTHING).forked())
