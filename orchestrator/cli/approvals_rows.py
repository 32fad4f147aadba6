"""Questions and standing yeses in a list: a line for people, data for machines. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from orchestrator.confirmation.grant import Grant
from orchestrator.confirmation.held import Held
from orchestrator.confirmation.question_text import render_question
from orchestrator.confirmation.record import plain_data, question_of
from orchestrator.schema.terminal_text import escape_terminal

SHOWN = 60
"""Characters of a command in a list."""


def question_row(held: Held, now: datetime) -> dict[str, Any]:
    """Return a question as data for machines, with how it is shown."""
    shown = "\n".join(render_question(question_of(held.question), 100))
    return plain_data(held) | {"status": held.status(now), "shown": shown}


def grant_row(grant: Grant, now: datetime) -> dict[str, Any]:
    """Return a standing yes as data for machines."""
    return plain_data(grant) | {"status": grant.status(now)}


def question_words(held: Held, now: datetime) -> list[str]:
    """Return a question's line in a list."""
    asked, end = held.question, held.question.expires
    until = f"until {time_words(end)}" if end is not None else ""
    status = held.status(now)
    words = [f"? {asked.id}", status, until if status == "waiting" else "", asked.tool]
    return [*words, short(asked.subject), f"({asked.rule})", asked.project]


def grant_words(grant: Grant, now: datetime) -> list[str]:
    """Return a standing yes's line in a list, with its provenance."""
    said = f"by {grant.who or '?'} at {time_words(grant.given)} ({grant.via or grant.by})"
    shown = grant.pattern.pattern().text if grant.pattern is not None else grant.subject
    status = grant.status(now)
    end = f"until {time_words(grant.expires)}"
    if grant.revoked is not None:
        end = f"by {grant.revoked.who} at {time_words(grant.revoked.time)}"
    words = [f"+ {grant.id}", status, end, grant.scope, grant.tool, short(shown)]
    return [*words, f"({grant.rule})", grant.project, said, f"question {grant.question}"]


def time_words(when: datetime) -> str:
    """Return a time of this machine's zone."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def short(text: str) -> str:
    """Return a command cut to a list's width, safe to show."""
    line = escape_terminal(text)
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
