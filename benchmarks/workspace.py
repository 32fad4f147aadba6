"""How much a workspace costs: start by size, reading back, applying.

``python benchmarks/workspace.py [--json] [--only PART]``. Directories of 10 and of 50,000 files are started by
turns, so that a slow moment of the machine meets both.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import BASE, ensure_base
from orchestrator.engine.client import Engine, connect
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.at_rest import note_writer
from orchestrator.workspace.handover import (
    Applied,
    apply_changes,
    begin_workspace,
    discard_changes,
    drop_emptied,
    read_changes,
)
from orchestrator.workspace.node import ChangeSet, WorkspaceMode
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.workspace import Prepared, Workspace, WorkspaceSpec

SMALL, LARGE = 10, 50_000
CHANGED = 1000
ROUNDS = 9
RETURNS = 3
HIDDEN = ("**/.env", "**/.env.*", "**/*.pem", "**/id_rsa", "**/.ssh/**", "**/.aws/credentials")
OWNER = 1000


def make_project(root: Path, files: int) -> None:
    """Make a directory of this many small files, a hundred a directory."""
    for number in range(files):
        path = root / f"pkg{number // 2000}" / f"mod{number // 100 % 20}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n")
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, OWNER, OWNER)


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1000


class Bench:
    """One state directory on the real engine."""

    def __init__(self, engine: Engine, root: Path) -> None:
        self.engine, self.root = engine, root
        self.paths = Paths(root / "state", root / "config")

    def begin(self, project: Path, mode: WorkspaceMode) -> tuple[Workspace, Prepared]:
        spec = WorkspaceSpec(SessionId(secrets.token_hex(6)), project, mode, BASE, hidden=HIDDEN)
        return anyio.run(lambda: begin_workspace(spec, paths=self.paths, engine=self.engine))

    def run(self, workspace: Workspace, prepared: Prepared, command: list[str]) -> None:
        """Run a command on the workspace, noted as the harness notes its boxes."""
        mount = prepared.mounts[0]
        api = self.engine.api
        config = api.create_host_config(
            network_mode="none", binds={mount.source: {"bind": mount.target, "mode": "rw"}}
        )
        made = api.create_container(
            BASE, command, host_config=config, user=str(prepared.uid), working_dir="/workspace"
        )
        api.start(made["Id"])
        note_writer(workspace.site.folder)
        api.wait(made["Id"])
        api.remove_container(made["Id"], force=True)

    def start(self, project: Path, mode: WorkspaceMode) -> tuple[float, float]:
        """Return milliseconds of preparing alone, and of preparing, a container and its end."""
        before = time.perf_counter()
        workspace, prepared = self.begin(project, mode)
        ready = time.perf_counter()
        self.run(workspace, prepared, ["true"])
        end = time.perf_counter()
        anyio.run(discard_changes, workspace)
        return (ready - before) * 1000, (end - before) * 1000


def measure_starts(bench: Bench, small: Path, large: Path) -> dict[str, float]:
    """Time the starts of both sizes by turns."""
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, project in (("10", small), ("50000", large)):
            prepare, whole = bench.start(project, "overlay")
            found.setdefault(f"overlay prepare, {name} files", []).append(prepare)
            found.setdefault(f"overlay start, {name} files", []).append(whole)
    medians = {name: statistics.median(values) for name, values in found.items()}
    medians["overlay start, 50000 against 10"] = (
        medians["overlay start, 50000 files"] / medians["overlay start, 10 files"]
    )
    return medians


def measure_return(bench: Bench, project: Path, mode: WorkspaceMode) -> dict[str, float]:
    """Time the copy in, then by rounds the look and the apply of a thousand changed files."""
    begun: list[tuple[Workspace, Prepared]] = []
    prepare = timed(lambda: begun.append(bench.begin(project, mode)))
    workspace, prepared = begun[0]
    found: dict[str, list[float]] = {}
    for _ in range(RETURNS):
        applied = measure_round(bench, workspace, prepared, found)
    drop = timed(lambda: anyio.run(drop_emptied, workspace, applied))
    return {
        f"{mode} prepare, {LARGE} files": prepare,
        **{f"{mode} {name}": statistics.median(values) for name, values in found.items()},
        f"{mode} drop what is empty then": drop,
    }


def measure_round(
    bench: Bench, workspace: Workspace, prepared: Prepared, found: dict[str, list[float]]
) -> Applied:
    """Have a box change a thousand files; add to ``found`` what it takes until they are home."""
    stamp = secrets.token_hex(4)
    script = (
        f"find . -name '*.py' | sort | head -{CHANGED} | while read f; do echo {stamp} >> $f; done"
    )
    bench.run(workspace, prepared, ["bash", "-c", script])
    looked: list[ChangeSet] = []
    look = timed(lambda: looked.append(anyio.run(read_changes, workspace)))
    changes = looked[0]
    if len(changes.changes) != CHANGED:
        raise SystemExit(f"expected {CHANGED} changes, got {len(changes.changes)}")
    again = timed(lambda: anyio.run(read_changes, workspace))
    paths = [change.path for change in changes.changes]
    project = Path(changes.directory)
    before = copied(bench.root, project, paths)
    applied: list[Applied] = []
    taken = timed(lambda: applied.append(anyio.run(apply_changes, workspace, changes, Selection())))
    # Half before and half after: the machine is seldom equally quick for long.
    copy = statistics.median([*before, *copied(bench.root, project, paths)])
    for name, value in {
        f"look, {CHANGED} changed": look,
        "look again, nothing ran": again,
        f"apply, {CHANGED} changed": taken,
        "cp -r of them and a sync": copy,
        "apply against cp -r and a sync": taken / copy,
    }.items():
        found.setdefault(name, []).append(value)
    return applied[0]


def copied(root: Path, project: Path, paths: list[str]) -> list[float]:
    """Return the milliseconds of some copies of these files."""
    with tempfile.TemporaryDirectory(dir=root) as folder:
        return [timed_copy(project, Path(folder), paths) for _ in range(3)]


def timed_copy(project: Path, folder: Path, paths: list[str]) -> float:
    """Return the milliseconds that ``cp -r`` of these files and a sync take."""
    source, copy = folder / "source", folder / "copy"
    for path in paths:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(project / path, source / path)

    def work() -> None:
        subprocess.run(["cp", "-r", source, copy], check=True)
        subprocess.run(["sync", "-f", copy], check=True)

    taken = timed(work)
    shutil.rmtree(source)
    shutil.rmtree(copy)
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=("starts", "overlay", "copy"), help="measure only this")
    arguments = parser.parse_args()
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        root = Path(folder)
        make_project(root / "small", SMALL)
        make_project(root / "large", LARGE)
        bench = Bench(engine, root)
        if arguments.only in {None, "starts"}:
            result |= measure_starts(bench, root / "small", root / "large")
        for mode in ("overlay", "copy"):
            if arguments.only in {None, mode}:
                result |= measure_return(bench, root / "large", mode)
    if arguments.json:
        print(json.dumps({name: round(value, 3) for name, value in result.items()}))
    else:
        for name, value in result.items():
            unit = "x" if "against" in name else "ms"
            print(f"{name:36} {value:10.2f} {unit}")


if __name__ == "__main__":
    main()
