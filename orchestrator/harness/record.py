"""What a session leaves behind: its transcript and its audit chain, begun or taken up again."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator.audit.files import is_unbegun
from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.paths import Paths
from orchestrator.errors import AuditUnavailable, SessionError, UsageError
from orchestrator.harness.forking import begins_here, fork_session
from orchestrator.harness.options import RunOptions
from orchestrator.harness.rewind_plan import notes_for_model
from orchestrator.harness.rewind_turns import moment_now
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.provenance import layer_facts
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.message import Image, Message, Text, UserMessage
from orchestrator.schema.posture import Posture
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.finding import find_session, list_sessions, session_file_name
from orchestrator.sessions.store import SessionStore
from orchestrator.workspace.snapshots_words import Moment

RESTARTED = (
    "[The run was interrupted and goes on now in a fresh box. Files of the workspace are as they "
    "were; running processes and everything in /tmp are gone.]"
)


@dataclass(slots=True)
class Record:
    """One session's files; a new session has none before ``start``, so a failed one leaves none."""

    session: SessionId
    directory: Path
    resumed: bool
    _paths: Paths
    _store: SessionStore | None = None
    _audit: AuditLog | None = None
    _ends: dict[str, Any] = field(default_factory=dict)
    _told: bool = False
    """The model knows of the new box."""

    @property
    def transcript(self) -> StoredTranscript:
        """The conversation on disk."""
        return StoredTranscript(self._open_store)

    @property
    def _open_store(self) -> SessionStore:
        if self._store is None:
            raise SessionError(f"session {self.session}: its file is not open yet")
        return self._store

    @property
    def store(self) -> SessionStore:
        """The session file; SessionError before it is open."""
        return self._open_store

    def moment(self) -> Moment:
        """Return where the conversation stands, for a snapshot of the files as they are now."""
        return moment_now(self.store.tree)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What reading an old session file had to mend or skip."""
        return tuple(self._open_store.warnings)

    @property
    def file(self) -> Path:
        """The session file."""
        return self._open_store.path

    @property
    def audit(self) -> AuditLog:
        """The chain; no chain, no action."""
        if self._audit is None:
            raise AuditUnavailable("the audit chain is not open yet")
        return self._audit

    def start(
        self,
        policy: EffectivePolicy,
        image: Digest,
        posture: Posture,
        *,
        model: str,
        brought: Mapping[str, Any],
    ) -> None:
        """Begin or take up the chain, and record what the session runs under.

        ``brought`` is what came along: ``env`` names, ``add_dirs`` paths, ``services`` images.
        """
        if self._store is None:
            self._store = self._create(policy.digest, image)
        path = self._paths.audit_log(self.session)
        signer = Signer.load(self._paths.keys)
        facts = {
            "policy": policy.name,
            "policy_digest": policy.digest,
            "layers": layer_facts(policy),
            "image_digest": image,
            "model": model,
            "controls": dict(posture.controls),
            "posture": dict(posture.facts),
            **brought,
            "lacking": dict(posture.found),
        }
        if is_unbegun(path) and not _was_answered(self.store):
            path.unlink()
        if path.exists():
            self._audit = AuditLog.resume(path, session=self.session, signer=signer)
        else:
            self._audit = AuditLog.create(path, session=self.session, genesis=facts, signer=signer)
        self._audit.append("session_start", {"resumed": self.resumed, **facts})

    def open_turn(
        self,
        prompt: str | None,
        scrub: Callable[[Message], Message],
        *,
        images: tuple[Image, ...] = (),
    ) -> None:
        """Append what the person said, after notes on a new box and on what was rewound."""
        said = [] if self._told else [RESTARTED] if self.resumed else []
        said += notes_for_model(self.store.tree.path())
        self._told = True
        parts: list[Text | Image] = [Text(text) for text in said]
        parts += [*images, *([Text(prompt)] if prompt else [])]
        if parts:
            self.transcript.add(scrub(UserMessage(tuple(parts))))

    def note_end(self, **facts: Any) -> None:
        """Keep what the chain's last own record will say."""
        self._ends.update(facts)

    def close(self) -> None:
        """Write the end, sign it, and give both files up."""
        try:
            if self._audit is not None:
                with closing(self._audit):
                    self._audit.append("session_end", self._ends)
        finally:
            if self._store is not None:
                self._store.close()

    def _create(self, policy: Digest, image: Digest) -> SessionStore:
        now = datetime.now(UTC)
        name = session_file_name(now, self.session)
        header = SessionHeader(
            id=self.session,
            cwd=str(self.directory),
            created=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            policy_digest=policy,
            image_digest=image,
        )
        return SessionStore.create(self._paths.project_sessions(self.directory) / name, header)


@contextmanager
def open_record(
    options: RunOptions, paths: Paths, *, session: SessionId | None = None
) -> Iterator[Record]:
    """Name a new session, or take an old one up under its lease.

    ``session`` is the id of a new one that has a box already.
    """
    resuming = options.resume is not None or options.resume_latest
    store = _reopen(options, paths) if resuming else None
    record = Record(
        session=store.header.id if store else session or SessionId(secrets.token_hex(6)),
        directory=options.directory,
        resumed=store is not None and not _begins(store),
        _paths=paths,
        _store=store,
    )
    try:
        yield record
    finally:
        record.close()
        if options.fork and store is not None and not paths.audit_log(record.session).exists():
            # Nothing came up in it: a run that failed leaves no session.
            store.path.unlink(missing_ok=True)


def _begins(store: SessionStore) -> bool:
    return begins_here(store.tree, is_copy=bool(store.header.forked_from))


def _reopen(options: RunOptions, paths: Paths) -> SessionStore:
    path = session_file(options, paths)
    if options.fork:
        path = fork_session(path, paths).path
    store = SessionStore.open(path)
    # A file that lost its header names no directory; the workspace's own record still does.
    if store.header.cwd and Path(store.header.cwd) != options.directory:
        cwd = store.header.cwd
        store.close()
        if options.fork:
            path.unlink()
        raise UsageError(
            f"session {options.resume}: expected directory {cwd}, got {options.directory}",
            hint=f"add -C {cwd}",
        )
    return store


def session_file(options: RunOptions, paths: Paths) -> Path:
    """Return the file of the session that is to be taken up; SessionError where there is none."""
    if options.resume is not None:
        return find_session(paths.sessions, options.resume).path
    found = list_sessions(paths.project_sessions(options.directory))
    if not found:
        raise SessionError(
            f"{options.directory}: no session to go on with", hint="start one with glovebox run"
        )
    return found[0].path


def _was_answered(store: SessionStore) -> bool:
    """Say whether a model has said anything: then something was recorded, and must be there."""
    entries = store.tree.entries
    return any(e.type == "message" and e.body["role"] == "assistant" for e in entries)
