"""Root's tests of what only others meet: a mode that keeps its own user out."""

import os
from collections.abc import Callable
from typing import TypeVar

from tests.support.workspaces import PLAIN_UID

T = TypeVar("T")


def as_plain_user(work: Callable[[], T]) -> T:
    """Do something without root's power to see everything; as it is where this is not root."""
    if os.geteuid() != 0:
        return work()
    os.setegid(PLAIN_UID)
    os.seteuid(PLAIN_UID)
    try:
        return work()
    finally:
        os.seteuid(0)
        os.setegid(0)
