"""The one exception of file operations: a refusal the model can act on."""

from __future__ import annotations

import errno
import os
from typing import Any

CODES = {
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_found",
    errno.ELOOP: "moved",
    errno.EISDIR: "not_regular",
    errno.ENXIO: "not_regular",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.EROFS: "denied",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EFBIG: "too_large",
    errno.ENAMETOOLONG: "invalid",
}
"""Errno to the outcome's stable word; all others are ``failed``."""


class Refusal(Exception):  # noqa: N818 - reads as what it is
    """Raised when an operation is not done; nothing was changed."""

    def __init__(self, code: str, message: str) -> None:
        """Keep the stable word and the sentence for the model."""
        super().__init__(message)
        self.code = code
        self.message = message

    def answer(self) -> dict[str, Any]:
        """Return the refusal in the form the server sends."""
        return {"error": self.message, "code": self.code}


class TakesLongError(Exception):
    """Raised, with nothing done yet, where work may take longer than whoever asked can wait."""


def from_os_error(error: OSError, shown: str) -> Refusal:
    """Return the refusal for an operating system error on the path ``shown``."""
    code = CODES.get(error.errno or 0, "failed")
    if code == "moved":
        return Refusal(code, f"{shown}: a link took its place while it was opened; try again")
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return Refusal(code, f"{shown}: {reason}")
