"""Names of keys, and the environment variables they may come from."""

from __future__ import annotations

import re

from orchestrator.errors import UsageError

SUFFIX = "_API_KEY"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def checked_name(name: str) -> str:
    """Return the name; raises UsageError where it is none. The text is not repeated: it may be a key."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "key name: expected lower-case letters, digits, dots, dashes and underscores, at most 64",
            hint="for example: glovebox keys set anthropic (the value is asked for)",
        )
    return name


def variable_of(name: str) -> str:
    """Return the variable a key is looked up in: ``my-proxy`` is ``MY_PROXY_API_KEY``."""
    return re.sub(r"[.-]", "_", name).upper() + SUFFIX


def name_of(variable: str) -> str | None:
    """Return the name of the key a variable holds; None where it holds none."""
    name = variable.removesuffix(SUFFIX).lower().replace("_", "-")
    return name if variable.endswith(SUFFIX) and _NAME.fullmatch(name) else None
