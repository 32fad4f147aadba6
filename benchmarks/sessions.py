"""Starting warm, ending quickly, and many sessions side by side; only the ratios travel.

``python -m benchmarks.sessions [--quick]`` needs the engine, the sandbox image and the docker
command. The pool is the real one, a process of its own; what is timed is a session's whole way to
its first result: policy key, question, checks of the workspace, hand-over, one command.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio

from benchmarks.box import TRUE, report, run
from benchmarks.crowd import ORDER, UID, crowd, resident
from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.containers import find_containers
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.harness.closing import Closing
from orchestrator.harness.governing import policy_of
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.channel import pool_directory
from orchestrator.harness.pool.claim import Claimant
from orchestrator.harness.pool.control import end_pools, wait_ready
from orchestrator.harness.pool.spawn import start_pool
from orchestrator.sandbox.driver import RunningBox
from orchestrator.schema.ids import SessionId

MANY = 50
STUCK = 3
MIB = 1024**2


async def warm_starts(image: str, folder: Path, rounds: int) -> None:
    """A session on a pool's box, against a plain container from nothing."""
    project = folder / "project"
    project.mkdir()
    (project / "a.txt").write_text("a\n")
    if os.geteuid() == 0:
        for path in (project, project / "a.txt"):
            os.chown(path, UID, UID)
    paths = Paths(folder / "state", folder / "config")
    options = RunOptions(prompt=None, directory=project, model="")
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    directory = pool_directory(environ)
    name = start_pool(options, paths, environ, size=1, idle_s=600)
    policy = policy_of(options, paths)
    times: dict[str, list[float]] = {"warm session": [], "docker run": [], "closing it": []}
    try:
        for _ in range(rounds):
            await anyio.to_thread.run_sync(lambda: wait_ready(directory, name, seconds=60))
            began = time.perf_counter()
            claimant = Claimant(options, policy, paths=paths, environ=environ, note=print)
            claim = await claimant.claim()
            if claim.claimed is None:
                raise RuntimeError(claim.why)
            await claim.claimed.box.execute(ORDER)
            times["warm session"].append((time.perf_counter() - began) * 1000)
            began = time.perf_counter()
            await claim.claimed.lifecycle.stop(claim.claimed.session, gone=False)
            times["closing it"].append((time.perf_counter() - began) * 1000)
            await claim.claimed.close(Closing.noting(print))
            await anyio.to_thread.run_sync(lambda: wait_ready(directory, name, seconds=60))
            began = time.perf_counter()
            run("docker", "run", "--rm", "--network", "none", image, *TRUE)
            times["docker run"].append((time.perf_counter() - began) * 1000)
    finally:
        end_pools(directory)
    report("warm start to first result", times, {"warm session": ("docker run",)})
    print(f"  closing returns in {statistics.median(times['closing it']):.2f} ms (median)")


async def many(engine: Engine, folder: Path) -> None:
    """What an idle session costs on both sides, and what a stuck one does to the others."""
    async with crowd(folder) as sessions:
        # The first one pays for what all share.
        opened = [await sessions.add()]
        before = resident()
        opened += [await sessions.add() for _ in range(MANY - 1)]
        grown = (resident() - before) / (MANY - 1)
        boxes = {session.id: session.room.box for session in opened}
        inside = [usage(engine, session) for session in boxes]
        ratios = [await beside_a_stuck_one(engine, boxes, number) for number in range(STUCK)]
    print(f"\n{MANY} sessions side by side in one process, each after one command")
    print(f"  harness: {grown / MIB:.2f} MiB an idle session (growth of the resident set)")
    middle, most = statistics.median(inside) / MIB, max(inside) / MIB
    print(f"  box: {middle:.1f} MiB of cgroup usage (median), {most:.1f} at most")
    ratio = statistics.median(ratios)
    print(f"  calls a second beside a box that is stuck = {ratio:.2f} x without")


async def beside_a_stuck_one(
    engine: Engine, boxes: dict[SessionId, RunningBox], number: int
) -> float:
    """Freeze one box with a call in it, and return the others' rate against that before."""
    session = list(boxes)[number]
    others = list(boxes.values())[STUCK:]
    alone = await rate(others)
    engine.api.pause(find_containers(engine, session=session)[0].id)
    async with anyio.create_task_group() as group:
        group.start_soon(boxes[session].execute, ORDER)
        beside = await rate(others)
        engine.api.unpause(find_containers(engine, session=session)[0].id)
    return beside / alone


async def rate(boxes: list[RunningBox]) -> float:
    """Return calls a second of all boxes together."""
    count = 4

    async def work(box: RunningBox) -> None:
        for _ in range(count):
            await box.execute(ORDER)

    rates = []
    for _ in range(3):
        began = time.perf_counter()
        async with anyio.create_task_group() as group:
            for box in boxes:
                group.start_soon(work, box)
        rates.append(len(boxes) * count / (time.perf_counter() - began))
    return statistics.median(rates)


def usage(engine: Engine, session: str) -> int:
    """Return the bytes that a box's cgroup is charged with, by either version's file."""
    identity = find_containers(engine, session=session)[0].id
    places = [
        f"/sys/fs/cgroup/memory/docker/{identity}/memory.usage_in_bytes",
        f"/sys/fs/cgroup/system.slice/docker-{identity}.scope/memory.current",
        f"/sys/fs/cgroup/docker/{identity}/memory.current",
    ]
    for place in places:
        if Path(place).exists():
            return int(Path(place).read_text())
    raise RuntimeError(f"no cgroup file of container {identity[:12]}")


async def bench(rounds: int) -> None:
    """Run everything."""
    engine = connect()
    image = ensure_sandbox_image(engine, lambda line: print(line, file=sys.stderr)).name
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        await warm_starts(image, Path(folder), rounds)
        await many(engine, Path(folder))
    engine.close()


def main() -> None:
    """Print all ratios."""
    parser = argparse.ArgumentParser(description=__doc__, usage="sessions.py [--quick]")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    anyio.run(bench, 5 if parser.parse_args().quick else 20)


if __name__ == "__main__":
    main()
