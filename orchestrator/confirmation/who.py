"""Who answers, as the system knows them."""

from __future__ import annotations

import os
import pwd
from contextlib import suppress


def user_name() -> str:
    """Return the name of the user that runs this process, or the number where it has none."""
    with suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_name
    return str(os.geteuid())


def terminal_name(fd: int) -> str:
    """Return the terminal behind a descriptor; empty where there is none."""
    with suppress(OSError):
        return os.ttyname(fd)
    return ""
