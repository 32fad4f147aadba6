"""``glovebox prompt``: what a session here would tell its model, and the templates at hand."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.run import chosen_directory, read_tools
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import load_settings
from orchestrator.harness.giving_away import text_redaction
from orchestrator.harness.governing import loaded_policy
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.project_texts import read_library
from orchestrator.harness.prompting import read_prompts
from orchestrator.prompts.assemble import Assembled
from orchestrator.prompts.expand import expand, literal
from orchestrator.schema.terminal_text import escape_terminal

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Show the system prompt and the prompt templates.",
    pretty_exceptions_enable=False,
)

Project = Annotated[Path, typer.Option("--cd", "-C", help="Directory of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(
    cd: Project = Path(),
    layers: Annotated[
        bool, typer.Option("--layers", help="Print a line a part: layer, tokens, name, source.")
    ] = False,
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    tools: Annotated[str | None, typer.Option(help="Tools on offer, by comma.")] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Name for texts that speak of the model.")
    ] = "",
    budget: Annotated[
        int | None,
        typer.Option(min=0, help="Tokens to fit it into; by default nothing is left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the system prompt that a session in this directory would begin with.

    Tokens are about; the policy named, or your usual one, says what may leave the box and which
    files may be read.
    """
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    options = RunOptions(
        prompt=None,
        directory=chosen_directory(cd),
        model=NO_MODEL,
        policies=tuple(policy or settings.policy),
        tools=settings.tools if tools is None else read_tools(tools),
    )
    prompts = read_prompts(options, settings.prompt, paths, policy=loaded_policy(options, paths))
    made = prompts.assemble(
        options.tools,
        model=model,
        thinking=settings.thinking or "",
        budget=budget,
        scrub=text_redaction(paths, os.environ),
    )
    _remark(prompts.notes)
    if as_json:
        _print(json.dumps(_data(made, prompts.notes)))
    elif layers:
        for row in _rows(made):
            _print(escape_terminal(row))
    else:
        _print(escape_terminal(made.text, keep_newlines=True))


@app.command()
def templates(cd: Project = Path(), as_json: AsJson = False) -> None:
    """List the templates that /NAME calls here, with their arguments and where each is from.

    One that is broken is named with the reason, file and line; it costs no other.
    """
    library = read_library(chosen_directory(cd), _paths()).checked()
    found = [library.templates[name] for name in library.names()]
    broken = sorted(library.faults.items())
    _remark(library.notes)
    if as_json:
        rows: list[dict[str, Any]] = [
            {
                "name": each.name,
                "usage": each.usage,
                "description": each.head.description,
                "arguments": {
                    name: form.model_dump(exclude_defaults=True)
                    for name, form in each.head.arguments.items()
                },
                "source": each.source,
            }
            for each in found
        ]
        rows += [{"name": name, "error": reason} for name, reason in broken]
        _print(json.dumps(sorted(rows, key=lambda row: row["name"])))
        return
    width = max(len(each.usage) for each in found)
    for each in found:
        where = "" if each.tier == "shipped" else f"  ({each.source})"
        _print(escape_terminal(f"{each.usage:{width}}  {each.head.description}{where}"))
    for name, reason in broken:
        _print(escape_terminal(f"/{name}  broken: {reason}"))


@app.command(name="expand")
def expand_text(
    text: Annotated[str, typer.Argument(help="What would be said, such as '/fix make test'.")],
    cd: Project = Path(),
) -> None:
    """Print what the model would be told for what you say."""
    library = read_library(chosen_directory(cd), _paths())
    made = expand(text, library)
    _remark(library.notes)
    _print(escape_terminal(made.text if made else literal(text), keep_newlines=True))


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _rows(made: Assembled) -> list[str]:
    width = max(len(part.name) for part in made.parts)
    rows = [
        f"{part.layer:8} {part.tokens:6}  {part.name:{width}}  {part.source}" for part in made.parts
    ]
    rows += [f"left out to fit: {name}" for name in made.trimmed]
    return [*rows, f"{'total':8} {made.tokens:6}  {made.digest}"]


def _data(made: Assembled, notes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "text": made.text,
        "tokens": made.tokens,
        "digest": made.digest,
        "layers": dict(made.layers),
        "parts": [
            {
                "layer": part.layer,
                "name": part.name,
                "source": part.source,
                "tokens": part.tokens,
            }
            for part in made.parts
        ],
        "trimmed": list(made.trimmed),
        "notes": list(notes),
    }


def _remark(notes: tuple[str, ...]) -> None:
    for note in notes:
        sys.stderr.write(escape_terminal(note) + "\n")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
