"""What a request's first line is made of, so that the judge and the proxy read it alike."""

from __future__ import annotations

import re

METHOD = "[A-Z]+(?:-[A-Z]+)*"
"""In capitals only: servers differ on whether ``get`` is GET."""
TARGET = r"[\x21-\x7e]+"
"""Visible ASCII: a blank would end it."""

_METHOD = re.compile(METHOD)
_TARGET = re.compile(TARGET)


def is_method(text: str) -> bool:
    """Say whether a text can stand as a method."""
    return _METHOD.fullmatch(text) is not None


def is_target(text: str) -> bool:
    """Say whether a text can stand as a target."""
    return _TARGET.fullmatch(text) is not None
