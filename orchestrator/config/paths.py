"""Where state and configuration live on the host; nothing here touches a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.schema.ids import SessionId, digest_of


@dataclass(frozen=True, slots=True)
class Paths:
    """The two roots; everything below them is named here alone."""

    state: Path
    """``$XDG_STATE_HOME/glovebox``."""
    config: Path
    """``$XDG_CONFIG_HOME/glovebox``."""

    @property
    def sessions(self) -> Path:
        """All session files, a folder a project."""
        return self.state / "sessions"

    def project_sessions(self, directory: Path) -> Path:
        """Return the folder of one project's session files."""
        return self.sessions / project_slug(directory)

    def audit_log(self, session: SessionId) -> Path:
        """Return a session's audit chain."""
        return self.state / "audit" / f"{session}.jsonl"

    def work(self, session: SessionId) -> Path:
        """Return a session's working state: overlay layers, journal."""
        return self.state / "work" / session

    @property
    def beginnings(self) -> Path:
        """What announces sessions that have no file yet."""
        return self.state / "beginnings"

    @property
    def homes(self) -> Path:
        """What is known of the volumes that are projects' homes."""
        return self.state / "homes"

    @property
    def questions(self) -> Path:
        """Questions that wait for an answer, and what became of them."""
        return self.state / "approvals" / "questions"

    @property
    def grants(self) -> Path:
        """Yeses that stand."""
        return self.state / "approvals" / "grants"

    @property
    def said(self) -> Path:
        """What was typed in chats, for the input line's history; mode 0600."""
        return self.state / "chat" / "said.jsonl"

    def recordings(self, session: SessionId) -> Path:
        """Return the folder of a session's recorded terminals."""
        return self.state / "recordings" / session

    @property
    def keys(self) -> Path:
        """Signing keys and the credential vault; mode 0700."""
        return self.state / "keys"


def paths_from(environ: Mapping[str, str], home: Path) -> Paths:
    """Return the roots for an environment; ``GLOVEBOX_STATE`` and ``GLOVEBOX_CONFIG`` win."""
    state = environ.get("XDG_STATE_HOME") or str(home / ".local" / "state")
    config = environ.get("XDG_CONFIG_HOME") or str(home / ".config")
    return Paths(
        state=Path(environ.get("GLOVEBOX_STATE") or Path(state) / "glovebox"),
        config=Path(environ.get("GLOVEBOX_CONFIG") or Path(config) / "glovebox"),
    )


def project_slug(directory: Path) -> str:
    """Return a folder name that is readable and unique for a directory."""
    word = re.sub(r"[^A-Za-z0-9]+", "-", directory.name).strip("-").lower()[:40] or "root"
    return f"{word}-{digest_of(str(directory).encode())[7:17]}"
