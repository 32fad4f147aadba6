"""Whom a session's proxy believes: the host's store, and authorities that the user added."""

from __future__ import annotations

import ssl
from pathlib import Path

from orchestrator.config.settings import EgressSettings
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.errors import ConfigError
from orchestrator.named_file import read_named

MAX_CA = 4 * 1024 * 1024


def session_tls(authority: Authority, settings: EgressSettings) -> SessionTls:
    """Return TLS under the session's authority; ConfigError for certificates that cannot be read."""
    return SessionTls(authority, host_context(settings))


def host_context(settings: EgressSettings) -> ssl.SSLContext:
    """Return which servers are believed; ConfigError for certificates that cannot be read."""
    try:
        return upstream_context(_extra_ca(settings.extra_ca))
    except ValueError as error:
        raise ConfigError(f"{settings.extra_ca}: egress.extra_ca: {error}") from error


def _extra_ca(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        data = read_named(path.expanduser(), limit=MAX_CA)
    except OSError as error:
        raise ConfigError(
            f"{path}: egress.extra_ca: cannot be read: {error.strerror}",
            hint="name a file of certificates in PEM form, or take the setting away",
        ) from error
    return data.decode("ascii", "replace")
