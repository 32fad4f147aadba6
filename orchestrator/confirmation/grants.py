"""Yeses that stand: who gave them, when, where from, for what, and until when.

They lie in the host's state, never in a repository. A grant answers only what it was given for:
the same digest (or a command of its pattern), asked about by the same rule for no further risk.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from orchestrator.confirmation.gate import Answer, Question, utc_now
from orchestrator.confirmation.grant import Grant, Revoked
from orchestrator.confirmation.private_files import PrivateFolder
from orchestrator.confirmation.record import PatternRecord
from orchestrator.confirmation.scopes import end_of, offered
from orchestrator.errors import ConfigError, UsageError

KEPT_DAYS = 30
"""Days that a grant which is over stays listed."""


class Grants:
    """One folder of grants."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = utc_now) -> None:
        """Keep grants in ``folder``, which is made with the first."""
        self._folder = PrivateFolder(folder)
        self._now = now

    def add(self, question: Question, answer: Answer) -> Grant | None:
        """Keep a yes for later; None where it holds once, or was offered for no longer."""
        if not answer.yes or answer.scope == "once" or answer.scope not in offered(question):
            return None
        now = self._now()
        pattern = question.likeness.pattern if answer.widened else None
        grant = Grant(
            id=secrets.token_hex(6),
            scope=answer.scope,
            session=question.session,
            project=question.project,
            tool=question.tool,
            subject=question.scrub(question.subject)[:10_000],
            digest=question.digest,
            pattern=PatternRecord.of(pattern),
            rule=question.decision.rule,
            layer=question.decision.layer,
            risks=question.decision.risks,
            question=question.id,
            by=answer.by,
            who=answer.who,
            via=answer.via,
            given=now,
            expires=end_of(answer.scope, now),
        )
        with self._folder.locked():
            self._tidy()
            self._save(grant)
        return grant

    def find(self, question: Question) -> Grant | None:
        """Return a grant that stands and covers the question."""
        now = self._now()
        return next(
            (one for one in self.all() if one.status(now) == "stands" and one.answers(question)),
            None,
        )

    def revoke(self, word: str, *, who: str) -> Grant:
        """Take one back, by its id or an unmistakable beginning; UsageError for an unknown one."""
        with self._folder.locked():
            found = [one for one in self.all() if len(word) >= 4 and one.id.startswith(word)]
            if len(found) != 1:
                what = "several begin with it" if found else "there is none"
                raise UsageError(
                    f"approval {word!r}: expected an approval's id, {what}",
                    hint="glovebox approvals list",
                )
            return self._revoke(found[0], who)

    def revoke_all(self, *, who: str, project: str | None = None) -> list[Grant]:
        """Take back all that stand, or all of one project."""
        with self._folder.locked():
            now = self._now()
            return [
                self._revoke(one, who)
                for one in self.all()
                if one.status(now) == "stands" and project in {None, one.project}
            ]

    def all(self) -> list[Grant]:
        """Return every grant, the oldest first; ConfigError where one cannot be read."""
        loaded = [self._load(name) for name in self._folder.names() if name.endswith(".json")]
        return sorted((one for one in loaded if one is not None), key=lambda one: one.given)

    def stamp(self) -> int | None:
        """Return what differs after any change, in nanoseconds since the epoch; None before any."""
        try:
            return self._folder.path.stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def _revoke(self, grant: Grant, who: str) -> Grant:
        gone = grant.model_copy(update={"revoked": Revoked(who=who, time=self._now())})
        self._save(gone)
        return gone

    def _load(self, name: str) -> Grant | None:
        data = self._folder.read(name)
        try:
            return Grant.model_validate_json(data) if data is not None else None
        except (ValueError, ValidationError) as error:
            path = self._folder.path / name
            raise ConfigError(
                f"{path}: cannot be read as an approval: {type(error).__name__}",
                hint=f"remove it, and you are asked again: rm {path}",
            ) from error

    def _save(self, grant: Grant) -> None:
        data = grant.model_dump_json(indent=1, ensure_ascii=True).encode()
        self._folder.write(f"{grant.id}.json", data + b"\n")

    def _tidy(self) -> None:
        now = self._now()
        for grant in self.all():
            ended = grant.revoked.time if grant.revoked else grant.expires
            if grant.status(now) != "stands" and now - ended > timedelta(days=KEPT_DAYS):
                self._folder.remove(f"{grant.id}.json")
