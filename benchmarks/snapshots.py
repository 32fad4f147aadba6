"""How much a turn's snapshot costs: ten changed files on a project of ten thousand.

``python -m benchmarks.snapshots [--json]``. Turns with and without a snapshot come by turns, so that
a slow moment of the machine meets both; the box's own command is the measure of a turn.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.workspace import Bench, make_project, timed
from orchestrator.engine.base_image import BASE, ensure_base
from orchestrator.engine.client import connect
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Moment
from orchestrator.workspace.workspace import Prepared

FILES = 10_000
CHANGED = 10
ROUNDS = 21


class Box:
    """A container that stays, with the workspace in it."""

    def __init__(self, bench: Bench, prepared: Prepared) -> None:
        self.api = bench.engine.api
        mount = prepared.mounts[0]
        config = self.api.create_host_config(
            network_mode="none", binds={mount.source: {"bind": mount.target, "mode": "rw"}}
        )
        made = self.api.create_container(
            BASE,
            ["sleep", "3600"],
            host_config=config,
            user=str(prepared.uid),
            working_dir="/workspace",
        )
        self.name = made["Id"]
        self.api.start(self.name)

    def turn(self, number: int) -> None:
        """Change ten files that earlier turns did not touch."""
        stamp = secrets.token_hex(4)
        script = (
            f"for i in $(seq {number * CHANGED} {number * CHANGED + CHANGED - 1}); do "
            f"f=$(printf 'pkg%d/mod%d/f%d.py' $((i/2000)) $((i/100%20)) $i); echo {stamp} >> $f; "
            "done"
        )
        made = self.api.exec_create(self.name, ["bash", "-c", script], workdir="/workspace")
        self.api.exec_start(made["Id"])

    def close(self) -> None:
        self.api.remove_container(self.name, force=True)


def measure(bench: Bench, project: Path) -> dict[str, float]:
    """Play the turns of both kinds."""
    workspace, prepared = bench.begin(project, "overlay")
    history = FileHistory(workspace)
    history.take(Moment("start"))
    box = Box(bench, prepared)
    turns: list[float] = []
    snapshots: list[float] = []
    idle: list[float] = []
    try:
        for number in range(ROUNDS):
            turns.append(timed(lambda n=number: box.turn(n)))
            time.sleep(0.15)
            snapshots.append(timed(lambda n=number: history.take(Moment("turn", n + 1, str(n)))))
            idle.append(timed(lambda n=number: history.take(Moment("turn", n + 1, str(n)))))
    finally:
        box.close()
    taken = len(history.snapshots())
    if taken != ROUNDS + 1:
        raise SystemExit(f"expected {ROUNDS + 1} snapshots, got {taken}")
    number = history.snapshots()[1].number
    back = timed(lambda: history.rewind(number, now=Moment("before", 1), then=Moment("rewound", 1)))
    workspace.remove()
    return {
        f"turn, {CHANGED} changed of {FILES}": statistics.median(turns),
        "snapshot after it": statistics.median(snapshots),
        "snapshot where nothing changed": statistics.median(idle),
        "snapshot against the turn": statistics.median(
            kept / turn for kept, turn in zip(snapshots, turns, strict=True)
        ),
        "rewind of the files": back,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        root = Path(folder)
        make_project(root / "project", FILES)
        result = measure(Bench(engine, root), root / "project")
    if arguments.json:
        print(json.dumps({name: round(value, 3) for name, value in result.items()}))
    else:
        for name, value in result.items():
            unit = "x" if "against" in name else "ms"
            print(f"{name:36} {value:10.2f} {unit}")


if __name__ == "__main__":
    main()
