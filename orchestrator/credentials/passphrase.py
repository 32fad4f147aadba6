"""Where the vault's passphrase comes from: a private file, or a hidden prompt; never argv or a pipe."""

from __future__ import annotations

import getpass
import os
import stat
import warnings
from collections.abc import Mapping

from orchestrator.errors import CredentialError

VARIABLE = "GLOVEBOX_VAULT_PASSPHRASE_FILE"
MAX_BYTES = 4096


def passphrase_from_file(environ: Mapping[str, str]) -> str | None:
    """Return the first line of the file that the variable names; None where it names none."""
    path = environ.get(VARIABLE)
    if not path:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise CredentialError(f"{VARIABLE}: cannot read {path}: {error.strerror}") from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o077:
            raise CredentialError(
                f"{VARIABLE}: {path}: expected a regular file that only its owner can read",
                hint=f"chmod 600 {path}",
            )
        raw = os.read(descriptor, MAX_BYTES)
    finally:
        os.close(descriptor)
    return raw.decode("utf-8", "replace").splitlines()[0] if raw.strip() else ""


def ask_hidden(prompt: str) -> str:
    """Return what is typed on the terminal, unseen; raises CredentialError without a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        with warnings.catch_warnings():
            # Where the echo cannot be switched off, the secret must not be typed.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(prompt)
    except (OSError, EOFError, getpass.GetPassWarning) as error:
        raise CredentialError(
            "no terminal to ask on without showing what is typed",
            hint=f"give a value by stdin with `-`; for the vault's passphrase set {VARIABLE}",
        ) from error
