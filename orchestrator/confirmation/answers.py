"""Confirmers without a person: nobody, a blanket yes, answers written down before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.confirmation.gate import Answer, Confirmer, Question
from orchestrator.errors import ConfigError
from orchestrator.named_file import read_named

MAX_BYTES = 8 * 1024 * 1024
"""Answers are written by people, or by a program for one run."""
NOBODY_REASON = "this run has nobody to ask; try a way that needs no confirmation, or report it"


class NobodyConfirmer:
    """The non-interactive case: every ask is a no."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:  # noqa: ARG002 - the Protocol's form
        """Return no, with words for the model."""
        return Answer(yes=False, by="nobody", reason=NOBODY_REASON)


class BlanketConfirmer:
    """``--yolo``: yes to every ask that a blanket yes may answer, recorded as such."""

    def __init__(self, otherwise: Confirmer) -> None:
        """Hand unyielding asks (opaque, evasion, over-limit, protected) to ``otherwise``."""
        self._otherwise = otherwise

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return yes unless the decision does not yield."""
        if question.decision.unyielding:
            return await self._otherwise.ask(question, timeout_s=timeout_s)
        return Answer(yes=True, by="yolo")


class RecordedAnswer(BaseModel):
    """One line of an answers file; the first that fits a question answers it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str | None = None
    command: str | None = None
    """The exact command or path; a text match, never a pattern."""
    digest: str | None = None
    rule: str | None = None
    """A rule's id or ``risk:NAME``."""
    answer: Literal["yes", "no"]
    scope: Literal["once", "session"] = "once"
    """Read for older files: a file answers each equal question anew, so both mean the same."""
    reason: str = ""

    def fits(self, question: Question) -> bool:
        """Say whether every given field equals the question's."""
        pairs = (
            (self.tool, question.tool),
            (self.command, question.subject),
            (self.digest, str(question.digest)),
            (self.rule, question.decision.rule),
        )
        return all(wanted is None or wanted == got for wanted, got in pairs)


class RecordedConfirmer:
    """Answers written down before the run; a question without one is a no."""

    def __init__(
        self, answers: Sequence[RecordedAnswer], source: str, *, exact_only: bool = False
    ) -> None:
        """Answer from ``answers`` in order; ``source`` names them in reasons.

        ``exact_only``: a yes counts only where it names the exact command or digest.
        """
        self._answers = tuple(answers)
        self._source = source
        self._exact_only = exact_only

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:  # noqa: ARG002 - the Protocol's form
        """Return the first fitting answer; a vague one never answers an unyielding ask."""
        for recorded in self._answers:
            exact = recorded.command is not None or recorded.digest is not None
            blanket = self._exact_only and recorded.answer == "yes"
            if recorded.fits(question) and (exact or not (question.decision.unyielding or blanket)):
                return Answer(
                    recorded.answer == "yes", "file", reason=recorded.reason, via=self._source
                )
        return Answer(
            yes=False,
            by="file",
            reason=f"{self._source} holds no answer for this",
            via=self._source,
        )


def load_answers(path: Path, *, exact_only: bool = False) -> RecordedConfirmer:
    """Read an answers file: ``version: 1`` and a list ``answers``."""
    try:
        text = read_named(path, limit=MAX_BYTES)
        if len(text) > MAX_BYTES:
            raise ConfigError(f"{path}: expected at most {MAX_BYTES} bytes, got more")
        data = yaml.safe_load(text.decode("utf-8"))
        if (
            not isinstance(data, dict)
            or data.get("version") != 1
            or set(data) - {"version", "answers"}
            or not isinstance(data.get("answers") or [], list)
        ):
            raise ConfigError(
                f"{path}: expected 'version: 1' and a list 'answers'",
                hint="see docs/cli.md, 'answers file'",
            )
        answers = [RecordedAnswer.model_validate(item) for item in data.get("answers") or []]
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read: {error.strerror}",
            hint="name an answers file: see docs/cli.md, 'answers file'",
        ) from error
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise ConfigError(f"{path}: answers: {where}: {error.errors()[0]['msg']}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else f"{path}"
        raise ConfigError(f"{place}: not YAML") from error
    return RecordedConfirmer(answers, str(path), exact_only=exact_only)


class ScriptedConfirmer:
    """The shipped stand-in for tests: answers in order, and keeps what it was asked."""

    def __init__(self, answers: Sequence[Answer] = ()) -> None:
        """Give these answers in turn; when none is left, no."""
        self._answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:  # noqa: ARG002 - the Protocol's form
        """Return the next answer."""
        self.asked.append(question)
        if not self._answers:
            return Answer(yes=False, by="scripted", reason="no answer left in the script")
        return replace(self._answers.pop(0), by="scripted")

    async def close(self, question: Question, answer: Answer) -> Answer | None:  # noqa: ARG002 - the Protocol's form
        """Give up a question that was answered elsewhere; a script is never too late."""
        return None
