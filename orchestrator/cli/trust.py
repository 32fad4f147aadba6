"""``glovebox trust``: a project's own policy and image; shown, answered, listed, taken back."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.cli.run_io import open_io
from orchestrator.config.paths import Paths, paths_from
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.errors import UsageError
from orchestrator.harness.governing import loaded_policy
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_image import ProjectAsker
from orchestrator.harness.trust import TrustAnswer, TrustStore, as_rows
from orchestrator.harness.trusting import answer_policies, answer_project
from orchestrator.named_file import real_path
from orchestrator.schema.terminal_text import escape_terminal


def trust(
    directory: Annotated[Path, typer.Argument(help="The project.", metavar="[DIR]")] = Path(),
    image: Annotated[
        str | None,
        typer.Option(help="A Dockerfile instead of the project's own, such as ./Dockerfile."),
    ] = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    yes: Annotated[
        str | None, typer.Option(help="Answer yes for exactly this digest.", metavar="DIGEST")
    ] = None,
    vouch: Annotated[
        bool | None,
        typer.Option("--vouch/--distrust", help="Say whether you vouch for what is in it."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List all answers.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Forget the project's answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> int:
    """Say whether a project, its own policy and its image are as you know them.

    --vouch and --distrust answer beforehand whether what is in the directory is a stranger's: for
    those, sessions are held under the policy untrusted-repo.

    Shows .glovebox/policy.yaml, or what changed in it, and then the Dockerfile or
    devcontainer.json, what goes in and its digest. Answers are kept on this machine. Exit code 0
    for yes, 1 for no.
    """
    paths = paths_from(os.environ, Path.home())
    if listing:
        return _list(paths, as_json=as_json)
    project = real_path(directory)
    if not project.is_dir():
        raise UsageError(f"trust {directory}: expected a directory, found none")
    if revoke:
        count = TrustStore(paths).revoke(project)
        typer.echo(json.dumps({"forgotten": count}) if as_json else f"{count} forgotten")
        return 0
    if vouch is not None:
        _tell(TrustStore(paths).vouch(project, yes=vouch, by="flag"), as_json=as_json)
        return 0
    options = RunOptions(None, project, "", policies=tuple(policy or ("default",)), image=image)
    io = open_io(quiet=False, json_events=False)
    effective = loaded_policy(options, paths)
    person = io.person() or NobodyConfirmer()
    asker = ProjectAsker(effective, paths, person, io.note)
    answered = anyio.run(partial(answer_policies, asker, options, yes=yes))
    for kept in answered:
        _tell(kept, as_json=as_json)
    if any(kept.answer == "no" for kept in answered):
        return 1
    if yes is not None and answered:
        return 0
    answer = anyio.run(partial(answer_project, asker, options, yes=yes))
    if answer is None:
        sys.stderr.write(f"{escape_terminal(str(project))}: it describes no image\n")
        return 0
    _tell(answer, as_json=as_json)
    return 0 if answer.answer == "yes" else 1


def _tell(answer: TrustAnswer, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(answer.model_dump(exclude={"text"})))
    elif answer.kind == "policy":
        typer.echo(f"{answer.answer} {answer.digest} {escape_terminal(answer.what)}")
    elif answer.kind == "project":
        typer.echo(f"{answer.answer} {escape_terminal(answer.what)}")
    else:
        typer.echo(f"{answer.answer} {answer.digest}")


def _list(paths: Paths, *, as_json: bool) -> int:
    rows = TrustStore(paths).projects()
    if as_json:
        typer.echo(json.dumps(as_rows(rows)))
        return 0
    for project in rows:
        for answer in project.answers:
            words = (answer.answer, answer.digest[:19], answer.time, project.directory, answer.what)
            typer.echo("  ".join(escape_terminal(word) for word in words))
    return 0
