"""Questions on disk, in the host's state: any process of this user may answer, also after a restart.

A question waits, then is answered, then used: each step happens once, under a lock, and is on the
disk before anything follows from it. An answer that comes too late is kept beside the one that
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from orchestrator.confirmation.gate import Answer, Question, utc_now
from orchestrator.confirmation.held import Held, answers, check_reply, describe
from orchestrator.confirmation.private_files import PrivateFolder
from orchestrator.confirmation.record import QuestionRecord, record_of
from orchestrator.confirmation.reply import Reply
from orchestrator.errors import ApprovalError, ConfigError, UsageError

KEPT_DAYS = 7
"""Days that a question of a stopped run can be answered, and that old ones are still listed."""
MIN_PREFIX = 4
MAX_LATE = 100
"""Late answers that one question keeps."""


class Inbox:
    """One folder of questions; every method is whole, and safe beside other processes."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = utc_now) -> None:
        """Keep questions in ``folder``, which is made with the first."""
        self._folder = PrivateFolder(folder)
        self._now = now

    def put(self, question: Question, *, expires: datetime | None = None) -> None:
        """Let a question wait; ApprovalError where it cannot be kept whole.

        ``expires`` None keeps it for a stopped run. An older one for the same call of the same
        session gives way to it.
        """
        end = expires or self._now() + timedelta(days=KEPT_DAYS)
        try:
            record = record_of(question, expires=end)
        except ValueError as error:
            raise ApprovalError(f"question {question.id}: cannot be kept: {error}") from error
        with self._folder.locked():
            there = self._load(_name(record.id))
            if there is not None and there.question.digest != record.digest:
                # Nobody shall see one question under an id and answer another.
                raise ApprovalError(f"question {record.id}: the id is another question's")
            for held in self._all():
                self._tidy(held)
                same = (held.question.session, held.question.digest) == (
                    record.session,
                    record.digest,
                )
                if same and held.state == "waiting" and held.question.id != record.id:
                    self._save(held.model_copy(update={"state": "closed"}))
            self._save(Held(question=record, changed=self._now()))

    def answer(self, word: str, reply: Reply) -> Held:
        """Answer a waiting question, once; ``word`` is its id or an unmistakable beginning.

        UsageError for an unknown id or a scope that is not offered. ApprovalError where it was
        answered before or is over: then the answer is kept as late, and counts for nothing.
        """
        with self._folder.locked():
            held = self.find(word)
            if held.status(self._now()) != "waiting":
                if len(held.late) < MAX_LATE:
                    self._save(held.model_copy(update={"late": (*held.late, reply)}))
                raise ApprovalError(
                    f"question {held.question.id}: {describe(held, self._now())}; "
                    "this answer does not count",
                    hint=f"glovebox approvals show {held.question.id}",
                )
            check_reply(held.question, reply)
            answered = held.model_copy(
                update={"state": "answered", "reply": reply, "changed": self._now()}
            )
            self._save(answered)
            return answered

    def collect(self, question: Question) -> Answer | None:
        """Return the answer to a question that waits here, and use it up; None while there is none."""
        if not self._is_answered(question):
            return None
        with self._folder.locked():
            held = self._load(_name(question.id))
            if held is None or held.state != "answered":
                return None
            return self._use(held)

    def take(self, question: Question) -> Answer | None:
        """Return an earlier answer for exactly this digest in this session, and use it up.

        None without one; an answer that came after the question's end is none. An earlier question
        that still waits is over: it is asked anew now, or was in vain.
        """
        if not question.session or not self._folder.names():
            return None
        with self._folder.locked():
            earlier = [held for held in self._all() if answers(held.question, question)]
            for held in earlier:
                if held.status(self._now()) == "answered":
                    return self._use(held)
            for held in earlier:
                if held.status(self._now()) == "waiting":
                    self._save(held.model_copy(update={"state": "closed", "changed": self._now()}))
        return None

    def close(self, question: Question, answer: Answer) -> Answer | None:
        """End a question that was answered elsewhere; return an answer that lay here, now lost."""
        with self._folder.locked():
            held = self._load(_name(question.id))
            if held is None or held.state not in {"waiting", "answered"}:
                return None
            late = (*held.late, held.reply) if held.reply is not None else held.late
            change = {
                "state": "closed",
                "reply": Reply.of(answer, self._now()),
                "late": late,
                "told": len(late),
                "changed": self._now(),
            }
            self._save(held.model_copy(update=change))
            return held.reply.as_answer() if held.reply is not None else None

    def drain_late(self, session: str) -> list[tuple[QuestionRecord, Reply]]:
        """Return a session's answers that counted for nothing, each once."""
        if not self._folder.names():
            return []
        found = []
        with self._folder.locked():
            for held in self._all():
                if held.question.session == session and held.told < len(held.late):
                    found += [(held.question, reply) for reply in held.late[held.told :]]
                    self._save(held.model_copy(update={"told": len(held.late)}))
        return found

    def find(self, word: str) -> Held:
        """Return a question by its id or an unmistakable beginning; UsageError without one."""
        found = [
            held
            for held in self._all()
            if held.question.id == word
            or (len(word) >= MIN_PREFIX and held.question.id.startswith(word))
        ]
        exact = [held for held in found if held.question.id == word]
        if len(exact or found) != 1:
            what = "several begin with it" if found else "there is none"
            raise UsageError(
                f"question {word!r}: expected a question's id, {what}",
                hint="glovebox approvals list",
            )
        return (exact or found)[0]

    def all(self) -> list[Held]:
        """Return every question, the oldest first."""
        return sorted(self._all(), key=lambda held: held.question.created)

    def _is_answered(self, question: Question) -> bool:
        held = self._load(_name(question.id))
        return held is not None and held.state == "answered"

    def _use(self, held: Held) -> Answer | None:
        self._save(held.model_copy(update={"state": "used", "changed": self._now()}))
        return held.reply.as_answer() if held.reply is not None else None

    def _all(self) -> list[Held]:
        loaded = (self._load(name) for name in self._folder.names() if name.endswith(".json"))
        return [held for held in loaded if held is not None]

    def _load(self, name: str) -> Held | None:
        data = self._folder.read(name)
        if data is None:
            return None
        try:
            held = Held.model_validate_json(data)
        except (ValueError, ValidationError) as error:
            # Never a yes by accident, and never a question that is silently gone.
            path = self._folder.path / name
            raise ConfigError(
                f"{path}: cannot be read as a question: {type(error).__name__}",
                hint=f"remove it, and it will be asked again: rm {path}",
            ) from error
        if _name(held.question.id) != name:
            raise ConfigError(f"{self._folder.path / name}: holds question {held.question.id}")
        return held

    def _save(self, held: Held) -> None:
        data = held.model_dump_json(indent=1, ensure_ascii=True).encode()
        self._folder.write(_name(held.question.id), data + b"\n")

    def _tidy(self, held: Held) -> None:
        """Remove what has been over for so long that nobody looks for it."""
        over = held.status(self._now()) in {"used", "closed", "expired"}
        if over and self._now() - held.changed > timedelta(days=2 * KEPT_DAYS):
            self._folder.remove(_name(held.question.id))


def _name(question: str) -> str:
    return f"{question}.json"
