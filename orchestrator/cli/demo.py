"""``glovebox demo``: everything real, no key: a small model's call, a repair, four refusals."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.audit.chain import verify_chain
from orchestrator.cli.review import review_changes, show_changes
from orchestrator.cli.run_io import RunIo
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import Settings
from orchestrator.errors import ConfigError, GloveboxError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.run import run_session
from orchestrator.harness.winding import RunEnd
from orchestrator.schema.ids import SessionId

FILES = Path(__file__).parent / "demo_files"
LOCAL_COMMAND = "echo hello"


def demo(
    keep: Annotated[
        bool, typer.Option(help="Keep the demo's project and state, and say where.")
    ] = False,
) -> int:
    """See the whole thing work: needs an engine and the image, no key and no network.

    First a real small model is told to run one command. Then a scripted model mends a failing
    test, and tries four things that are stopped, each by another layer.
    """
    with _place(keep=keep) as place:
        project = place / "project"
        shutil.copytree(FILES / "project", project)
        paths = paths_from(os.environ | {"GLOVEBOX_STATE": str(place / "state")}, Path.home())
        _small_model(project, paths)
        return _repair(project, paths)


def _small_model(project: Path, paths: Paths) -> None:
    _title("1. A real small model, over HTTP, is told to run one command in the box")
    prompt = f"Run the command: {LOCAL_COMMAND}"
    try:
        end = _run(project, paths, prompt=prompt, model="local")
    except ConfigError as error:
        _say(f"skipped: {error.message}")
        _say(f"  {error.hint}")
        return
    anyio.run(partial(review_changes, paths, end.session, _io(), apply_now=False))
    if end.exit_code != 0 or not _ran_in_box(paths, end):
        raise GloveboxError(
            f"demo: the small model's run ended with {end.exit_code} and without its command"
        )


def _repair(project: Path, paths: Paths) -> int:
    _title("2. A scripted model mends a failing test, then tries what it should not")
    end = _run(
        project, paths, prompt="Mend the failing test.", model=f"scripted:{FILES / 'script.yaml'}"
    )
    if end.exit_code != 0:
        raise GloveboxError(f"demo: the scripted run ended with {end.exit_code}")
    sys.stdout.write(end.answer + "\n")
    io = _io()
    _title("3. What it changed, and its way to the host")
    anyio.run(show_changes, paths, end.session, io)
    applied = anyio.run(partial(review_changes, paths, end.session, io, apply_now=True))
    _title("4. The audit chain")
    return applied or _verify(paths, end.session)


def _verify(paths: Paths, session: SessionId) -> int:
    verdict = verify_chain(paths.audit_log(session).read_bytes().splitlines(keepends=True))
    records = verdict.head.seq + 1 if verdict.head else 0
    sys.stdout.write(
        f"audit verify: intact, {verdict.state}, {records} records\n"
        if verdict.state == "closed"
        else f"audit verify: {verdict.state}: {verdict.why}\n"
    )
    return 0 if verdict.state == "closed" else 7


def _run(project: Path, paths: Paths, *, prompt: str, model: str) -> RunEnd:
    policies = (str(FILES / "policy.yaml"),)
    options = RunOptions(prompt=prompt, directory=project, model=model, policies=policies)
    return anyio.run(partial(run_session, options, Settings(), paths, front=_io()))


def _io() -> RunIo:
    return RunIo(json_events=False, quiet=False, terminal=None)


def _ran_in_box(paths: Paths, end: RunEnd) -> bool:
    """Say whether the audit holds an outcome of the small model's command."""
    text = paths.audit_log(end.session).read_text("utf-8")
    return LOCAL_COMMAND in text and '"exit_code":0' in text


@contextmanager
def _place(*, keep: bool) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="glovebox-demo-"))
    try:
        yield place
    finally:
        if keep:
            _say(f"kept: {place}")
        else:
            _remove(place)


def _remove(place: Path) -> None:
    try:
        shutil.rmtree(place)
    except OSError as error:
        _say(f"{place}: cannot be removed: {error.strerror}")


def _title(text: str) -> None:
    _say(f"\n== {text}")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
