"""Made-up secrets, built at run time so that no scanner takes a test for a leak."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest

from orchestrator.redaction.redactor import Redactor

HEX = "0123456789abcdef"
WORD = string.ascii_letters + string.digits


def made(length: int, alphabet: str = WORD) -> str:
    """Return the same random-looking text for the same length and alphabet."""
    return "".join(random.Random(f"{length}{alphabet}").choices(alphabet, k=length))


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({}, key=bytes(32))


@pytest.fixture
def redact(redactor: Redactor) -> Callable[[str], str]:
    return redactor.redact
