"""Settings of a ``.git/config`` that run a command, read as text: git itself is never started.

A repository's configuration is matched as a family: whatever git would execute, or would take
further configuration from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_CONFIG_BYTES = 1024 * 1024
"""A larger file is no configuration that a person wrote; only its beginning is read."""

_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*")

_COMMANDS = re.compile(
    r"""core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)
    |(?:pager|browser|difftool|mergetool|man|guitool)\..*
    |diff\.(?:external|.*\.(?:command|textconv))
    |filter\..*\.(?:clean|smudge|process)
    |merge\..*\.driver
    |(?:credential\.)(?:.*\.)?helper
    |gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand
    |sequence\.editor|instaweb\..*|web\.browser
    |interactive\.difffilter|trailer\..*\.(?:cmd|command)
    |uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs)
    |receive\.procreceiverefs|sendemail\..*cmd
    |submodule\..*\.update
    |include\.path|includeif\..*\.path
    |(?:init|clone)\.templatedir|safe\..*|protocol\.(?:.*\.)?allow""",
    re.VERBOSE,
)


def parse_settings(text: str) -> Iterator[tuple[str, str]]:
    """Yield ``section.subsection.key`` in lower case with each value; odd lines are passed over."""
    section = ""
    for line in text.splitlines():
        rest = line
        if match := _SECTION.fullmatch(line):
            section = ".".join(part for part in match.groups()[:2] if part).lower()
            rest = match[3]
        if section and (entry := _ENTRY.fullmatch(rest)):
            yield f"{section}.{entry[1].lower()}", (entry[2] or "").strip('"')


def command_settings(text: str) -> tuple[str, ...]:
    """Return the settings that would run a command, as ``key = value``."""
    return tuple(
        f"{key} = {value}"
        for key, value in parse_settings(text)
        if _COMMANDS.fullmatch(key) or (key.startswith("alias.") and value.startswith("!"))
    )


def hook_directory(text: str) -> str:
    """Return the last ``core.hooksPath``, empty where the default holds."""
    found = [value for key, value in parse_settings(text) if key == "core.hookspath"]
    return found[-1] if found else ""
