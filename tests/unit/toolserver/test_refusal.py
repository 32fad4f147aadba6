from __future__ import annotations

import errno

import pytest
from refusal import Refusal, from_os_error


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOENT, "not_found"),
        (errno.EACCES, "denied"),
        (errno.EROFS, "denied"),
        (errno.ENOSPC, "no_space"),
        (errno.EDQUOT, "no_space"),
        (errno.EFBIG, "too_large"),
        (errno.ELOOP, "moved"),
        (errno.EIO, "failed"),
    ],
)
def test_os_error_becomes_a_stable_word(number: int, code: str) -> None:
    """The host can tell the cases apart."""
    refusal = from_os_error(OSError(number, "ignored"), "a.txt")

    assert refusal.code == code
    assert refusal.message.startswith("a.txt: ")


def test_answer_has_the_servers_form() -> None:
    """Code and error, nothing else."""
    assert Refusal("denied", "no").answer() == {"error": "no", "code": "denied"}
