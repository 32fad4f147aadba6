"""Public enumeration scripts, run as they are: which are known, and what in their output is a find.

None is in this repository. ``make attack`` runs those named in ARGS, those in the directories of
ATTACK_SCRIPTS, and those on PATH.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_EXPLOITABLE = "\x1b[48;5;1m"
"""The background in which deepce prints what it takes for a way out."""


@dataclass(frozen=True)
class Known:
    """A script whose output is understood."""

    arguments: str
    finds: Callable[[str], list[str]]
    """From its whole output to the lines that claim a way out or up."""
    ended: str
    """Words without which it did not run to its end."""


def _deepce(output: str) -> list[str]:
    return [
        plain(line) for line in output.splitlines() if _EXPLOITABLE in line and "Test" not in line
    ]


def _lse(output: str) -> list[str]:
    # Its first question is a statement of its author, and the answer is always yes.
    rows = (plain(line) for line in output.splitlines())
    return [row for row in rows if re.match(r"\[!\] .*yes!", row) and "nowar" not in row]


def _lin_enum(output: str) -> list[str]:
    claims = (
        "We can ",
        "Possible sudo pwnage",
        "Looks like we're hosting Docker",
        "We're a member",
    )
    rows = (plain(line) for line in output.splitlines())
    return [row for row in rows if row.startswith("[+]") and any(claim in row for claim in claims)]


KNOWN = {
    "deepce.sh": Known("", _deepce, "Enumerating Containers"),
    "lse.sh": Known("-i -c -l 0", _lse, "FINISHED"),
    "LinEnum.sh": Known("", _lin_enum, "SCAN COMPLETE"),
}
"""Others are run too; what they print is for a person to judge."""


def plain(text: str) -> str:
    """Return a line without colours."""
    return _COLOURS.sub("", text).strip()


def found_scripts(arguments: list[str]) -> Iterator[Path]:
    """Return every script that was named or is at hand, each name once."""
    seen = set()
    named = [Path(argument) for argument in arguments]
    for folder in os.environ.get("ATTACK_SCRIPTS", "").split(os.pathsep):
        if folder:
            named += sorted(Path(folder).glob("*.sh"))
    named += [Path(path) for name in KNOWN if (path := shutil.which(name))]
    for path in named:
        if path.name not in seen:
            seen.add(path.name)
            yield path
