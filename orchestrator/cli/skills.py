"""``glovebox skills``: which skills a session here could use, and what is wrong with the others."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.run import chosen_directory
from orchestrator.config.paths import paths_from
from orchestrator.errors import UsageError
from orchestrator.harness.skills.finding import check_folder, find_skills
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.skills.discover import Catalogue
from orchestrator.skills.skill import Skill

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="List and check skills.",
    pretty_exceptions_enable=False,
)

Project = Annotated[Path, typer.Option("--cd", "-C", help="Directory of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(name="list")
def list_skills(cd: Project = Path(), as_json: AsJson = False) -> None:
    """List the skills that a session in this directory could use.

    Later places take the place of earlier ones: shipped, ~/.agents/skills, skills in the
    configuration folder, and .agents/skills and .glovebox/skills of a project that you vouch for.
    One that cannot be used is marked as broken; `skills check` tells why. What was left out is told
    on stderr.
    """
    found = _found(cd)
    broken = [(Path(place).name, place, lines) for place, lines in found.faults.items()]
    if as_json:
        rows = [_row(skill) for skill in found.skills.values()]
        rows += [{"name": name, "source": place, "errors": lines} for name, place, lines in broken]
        typer.echo(json.dumps(rows))
    else:
        names = (*found.skills, *(name for name, _, _ in broken))
        width = max(map(len, names), default=0)
        for skill in found.skills.values():
            words = f"{skill.name:<{width}}  {skill.scope:<7}  {_short(skill.description)}"
            typer.echo(escape_terminal(words))
        for name, _, lines in broken:
            more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
            typer.echo(escape_terminal(f"{name:<{width}}  broken   {_short(lines[0])}{more}"))
    told = [*found.notes, *(["broken skills: run `glovebox skills check`"] if broken else [])]
    for line in told:
        sys.stderr.write(f"{escape_terminal(line)}\n")


@app.command()
def check(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of skills, or of one; by default all that a session reads."),
    ] = None,
    cd: Project = Path(),
    as_json: AsJson = False,
) -> int:
    """Check skills: fields, files, triggers, and that their policy only tightens.

    One line a mistake, with file and line. Exit code 1 where a skill cannot be used.
    """
    for folder in folders or []:
        if not folder.is_dir():
            raise UsageError(f"skills check {folder}: expected a folder, found none")
    parts = [check_folder(folder) for folder in folders] if folders else [_found(cd)]
    errors = [line for part in parts for line in part.errors]
    warnings = [line for part in parts for line in part.warnings]
    names = [name for part in parts for name in part.skills]
    if as_json:
        typer.echo(json.dumps({"skills": names, "errors": errors, "warnings": warnings}))
        return 1 if errors else 0
    for line in errors:
        typer.echo(f"error    {escape_terminal(line)}")
    for line in warnings:
        typer.echo(f"warning  {escape_terminal(line)}")
    typer.echo(f"{len(names)} can be used, {len(errors)} errors, {len(warnings)} warnings")
    return 1 if errors else 0


def _found(cd: Path) -> Catalogue:
    home = Path.home()
    return find_skills(chosen_directory(cd), paths_from(os.environ, home), home=home)


def _row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "scope": skill.scope,
        "source": skill.source,
        "digest": skill.digest,
        "version": skill.version,
        "author": skill.author,
        "license": skill.license,
        "tags": list(skill.tags),
        "examples": list(skill.examples),
        "allowed_tools": None if skill.allowed is None else list(skill.allowed),
        "forbidden_tools": list(skill.forbidden),
        "by_name_only": skill.by_name_only,
        "errors": [],
    }


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else line[:99] + "…"
