"""``glovebox policy replay|suggest|diff``: policies against the past, and against each other."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.chains import chain_file
from orchestrator.config.assets import asset
from orchestrator.config.paths import paths_from
from orchestrator.errors import UsageError
from orchestrator.harness.recorded_calls import Recording, recorded_calls
from orchestrator.policy.cases import load_cases
from orchestrator.policy.compare import (
    Difference,
    builtin_corpus,
    case_corpus,
    changed_settings,
    differences,
)
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judged import judged_subject
from orchestrator.policy.load import load_policy
from orchestrator.policy.replay import Flip, replay
from orchestrator.policy.suggest import suggest
from orchestrator.schema.terminal_text import escape_terminal

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""As the policy format has it."""
SHOWN = 20
"""Differences of one kind that are listed; ``--json`` has all."""
_WIDE = 100

Chains = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SESSION|FILE]…", help="Audit chains; default: the newest."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def replay_command(
    chains: Chains = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", help="The policy to try: a shipped name or a file; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List every decision of recorded sessions that another policy would make otherwise.

    Exit 1 where there are some. Nothing runs.
    """
    if not policy:
        raise UsageError("policy replay: expected --policy, the policy to try")
    recording = _read(chains)
    flips = list(replay(_named(policy), recording.calls))
    if as_json:
        data = {
            "calls": len(recording.calls),
            "flips": [flip.as_data() for flip in flips],
            "skipped": recording.skipped,
        }
        _print(json.dumps(data))
    else:
        _print(*(escape_terminal(line) for line in _flip_lines(flips)))
        _print(f"{len(recording.calls)} calls, {len(flips)} would be decided otherwise")
        _warn(recording)
    if flips:
        raise typer.Exit(1)


def suggest_command(
    chains: Chains = None,
    name: Annotated[str, typer.Option(help="The policy's name.")] = "suggested",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it here; refuses to replace a file."),
    ] = None,
) -> None:
    """Draft the narrowest policy under which recorded sessions would go as they did.

    Exit 1 where a decision stays that no rule can say; each is named.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: expected letters, digits and . _ -, up to 63 of them")
    recording = _read(chains)
    if not recording.calls:
        raise UsageError("policy suggest: these chains hold no call that policy decided on")
    found = suggest(recording.calls, _from_text, name=name)
    if output is None:
        sys.stdout.write(found.text)
    else:
        _save(output, found.text)
    _warn(recording)
    for line in _flip_lines(list(found.left)):
        sys.stderr.write(f"not expressible: {escape_terminal(line)}\n")
    if found.left:
        raise typer.Exit(1)


def diff_command(
    before: Annotated[str, typer.Argument(help="A shipped policy's name or a file.")],
    after: Annotated[str, typer.Argument(help="Another one.")],
    cases: Annotated[
        list[Path] | None,
        typer.Option("--cases", help="Compare on these case files; repeatable. Default: built in."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say in which settings and decisions two policies differ. Exit 1 where they do."""
    one, other = _named([before]), _named([after])
    corpus = builtin_corpus(one, other)
    if cases:
        parsed = [case for file in cases for case in load_cases(file)]
        corpus = case_corpus(parsed)
    settings = changed_settings(one, other)
    found = list(differences(one, other, corpus))
    if as_json:
        data = {
            "compared": len(corpus),
            "settings": {key: list(values) for key, values in settings.items()},
            "decisions": [item.as_data() for item in found],
        }
        _print(json.dumps(data))
    else:
        _print(*(escape_terminal(line) for line in _difference_lines(settings, found)))
        _print(f"{len(corpus)} requests compared, {len(found)} decided otherwise")
    if settings or found:
        raise typer.Exit(1)


def _read(chains: list[str] | None) -> Recording:
    whole = Recording()
    wanted: list[str | None] = [*chains] if chains else [None]
    for given in wanted:
        found = recorded_calls(chain_file(given))
        whole.calls += found.calls
        whole.skipped += found.skipped
    return whole


def _named(names: list[str]) -> EffectivePolicy:
    state = paths_from(os.environ, Path.home()).state
    return load_policy(names, search=asset("policies"), user_file=None, state=state)


def _from_text(text: str) -> EffectivePolicy:
    with tempfile.TemporaryDirectory(prefix="glovebox-draft-") as folder:
        file = Path(folder) / "draft.yaml"
        file.write_text(text, "utf-8")
        return _named([str(file)])


def _save(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as err:
        raise UsageError(f"{file}: it exists", hint="name a new file") from err
    except OSError as err:
        raise UsageError(f"{file}: cannot be written: {err.strerror}") from err


def _flip_lines(flips: list[Flip]) -> Iterator[str]:
    for flip in flips:
        call = flip.call
        answered = {None: "", True: ", answered yes", False: ", answered no"}[call.answer]
        subject = _short(judged_subject(call.request))
        yield f"{call.effect} → {flip.now.effect}  {call.chain} seq {call.seq}: {call.tool} {subject}"
        yield f"    was {call.rule}{answered}; now {flip.now.rule}: {flip.now.reason}"


def _difference_lines(
    settings: dict[str, tuple[str, str]], found: list[Difference]
) -> Iterator[str]:
    for key, (one, other) in settings.items():
        yield f"{key}: {_short(one) or '(not set)'} → {_short(other) or '(not set)'}"
    kinds: dict[str, list[Difference]] = {}
    for item in found:
        kinds.setdefault(f"{item.before.effect} → {item.after.effect}", []).append(item)
    for kind, items in sorted(kinds.items()):
        yield f"{kind}: {len(items)}"
        for item in items[:SHOWN]:
            yield f"  {item.tool} {_short(judged_subject(item.request))}  ({item.after.rule})"
        if len(items) > SHOWN:
            yield f"  … {len(items) - SHOWN} more; --json lists all"


def _short(text: str) -> str:
    line = text.replace("\n", "⏎")
    return line if len(line) <= _WIDE else f"{line[:_WIDE]}…"


def _warn(recording: Recording) -> None:
    for line in recording.skipped:
        sys.stderr.write(f"skipped: {escape_terminal(line)}\n")


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
