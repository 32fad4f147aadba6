"""``glovebox approvals``: questions that wait, and yeses that stand; seen, answered, taken back."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from orchestrator.cli.approvals_rows import (
    grant_row,
    grant_words,
    question_row,
    question_words,
    short,
    time_words,
)
from orchestrator.config.paths import paths_from
from orchestrator.confirmation.gate import utc_now
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.held import describe
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.question_text import render_question
from orchestrator.confirmation.record import question_of
from orchestrator.confirmation.reply import MAX_REASON, Reply
from orchestrator.confirmation.who import terminal_name, user_name
from orchestrator.errors import UsageError
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal

app = typer.Typer(no_args_is_help=True, help="Answer questions, and see which yeses stand.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Id = Annotated[str, typer.Argument(help="A question's id, or its beginning.", metavar="ID")]


@app.command("list")
def list_approvals(
    everything: Annotated[
        bool, typer.Option("--all", help="Answered and expired ones too, and what was revoked.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List questions that wait for an answer, and yeses that stand, with who gave them and until when."""
    inbox, grants = _stores()
    now = utc_now()
    questions = [held for held in inbox.all() if everything or held.status(now) == "waiting"]
    standing = [one for one in grants.all() if everything or one.status(now) == "stands"]
    if as_json:
        rows: dict[str, Any] = {
            "questions": [question_row(held, now) for held in questions],
            "approvals": [grant_row(one, now) for one in standing],
        }
        typer.echo(json.dumps(rows))
        return
    for held in questions:
        _say(question_words(held, now))
    for one in standing:
        _say(grant_words(one, now))
    if not questions and not standing:
        sys.stderr.write("no question waits, and no yes stands\n")


@app.command()
def show(question: Id, as_json: Json = False) -> None:
    """Show a question whole: what would run, why it is asked, what each answer is kept for."""
    held = _stores()[0].find(question)
    now = utc_now()
    if as_json:
        typer.echo(json.dumps(question_row(held, now)))
        return
    columns = shutil.get_terminal_size((100, 24)).columns
    for row in render_question(question_of(held.question), columns):
        typer.echo(row)
    _say([f"session {held.question.session}", f"project {held.question.project}"])
    _say([f"digest {held.question.digest}"])
    _say([describe(held, now)])
    for late in held.late:
        _say([f"too late: {late.answer} by {late.by} ({late.who}) at {time_words(late.time)}"])


@app.command()
def answer(
    question: Id,
    word: Annotated[
        Literal["yes", "no"],
        typer.Argument(help="yes or no.", metavar="yes|no", show_default=False),
    ],
    scope: Annotated[
        str, typer.Option(help="once, session, a duration such as 30m, or project; as offered.")
    ] = "once",
    wider: Annotated[
        bool, typer.Option("--wider", help="Let the yes cover the pattern that show tells of.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why; on a no, the model reads it.")] = "",
    as_json: Json = False,
) -> None:
    """Answer a question, once. A run that waits goes on; a stopped one with `run --resume SESSION`."""
    if len(reason) > MAX_REASON:
        raise UsageError(f"--reason: expected at most {MAX_REASON} characters, got {len(reason)}")
    if word == "no" and (scope != "once" or wider):
        raise UsageError("approvals answer: --scope and --wider go with a yes")
    reply = Reply(
        answer=word,
        scope=scope,
        widened=wider,
        reason=reason,
        by="inbox",
        who=user_name(),
        via=f"glovebox approvals {terminal_name(0)}".strip(),
        time=utc_now(),
    )
    held = _stores()[0].answer(question, reply)
    if as_json:
        typer.echo(json.dumps(question_row(held, utc_now())))
        return
    _say([f"{held.question.id}: {word}", scope, short(held.question.subject)])


@app.command()
def revoke(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Approvals' ids, or beginnings.", metavar="[ID]...")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that stand.")] = False,
    project: Annotated[Path | None, typer.Option(help="All of one project.", metavar="DIR")] = None,
    as_json: Json = False,
) -> None:
    """Take yeses back; the next call they covered is asked about again."""
    if sum((bool(ids), everything, project is not None)) != 1:
        raise UsageError("approvals revoke: expected ids, or --all, or --project")
    grants, who = _stores()[1], user_name()
    if ids:
        gone = [grants.revoke(word, who=who) for word in ids]
    else:
        only = str(real_path(project)) if project is not None else None
        gone = grants.revoke_all(who=who, project=only)
    now = utc_now()
    if as_json:
        typer.echo(json.dumps({"revoked": [grant_row(one, now) for one in gone]}))
        return
    for one in gone:
        _say([f"{one.id}: revoked", short(one.subject)])
    if not gone:
        sys.stderr.write("nothing stood\n")


def _stores() -> tuple[Inbox, Grants]:
    paths = paths_from(os.environ, Path.home())
    return Inbox(paths.questions), Grants(paths.grants)


def _say(words: list[str]) -> None:
    typer.echo("  ".join(escape_terminal(word) for word in words if word))
