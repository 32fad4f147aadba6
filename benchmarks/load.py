"""A load like a build in the box, against the same in a plain ``docker run`` container.

``python benchmarks/load.py [--rounds N]``. Both have the same image, a volume each for the
workspace, the same limits on memory, processes, processors and files, and no network. Each builds
a program of many C files with two jobs, compiles Python to byte code and starts many small
processes. The load tells its own time, so that what it takes to get into a container is not
counted; the two take turns, and the ratios are medians of pairs.
"""

from __future__ import annotations

import argparse
import secrets
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio

from benchmarks.box import run
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.sandbox.box import Box
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import BoxLimits, BoxSpec
from orchestrator.schema.exec_record import ExecReport
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.request import ExecRequest

ROUNDS = 7
UID = 1000
LIMITS = BoxLimits(memory=1024**3, disk=2 * 1024**3)
FILES = 1024
"""RLIMIT_NOFILE."""

LOAD = r"""
set -e
rm -rf /workspace/load && mkdir /workspace/load && cd /workspace/load
for n in $(seq 24); do
  printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' > m$n.c
  for f in $(seq 20); do
    printf 'int m%s_f%s(int x){char b[64];snprintf(b,64,"%%d",x);' $n $f >> m$n.c
    printf 'return (int)strlen(b)*%s+atoi(b);}\n' $f >> m$n.c
  done
done
printf 'int main(void){return 0;}\n' > main.c
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tgcc -o all $^\n' > Makefile
printf '%%.o: %%.c\n\tgcc -O1 -c $< -o $@\n' >> Makefile
build() {
  make -s -j2 all
  mkdir py && cp -r /usr/lib/python3/dist-packages/pip/_internal py
  python3 -m compileall -q -f py
  for n in $(seq 20); do python3 -c 'print(1)' > out$n; done
  for n in $(seq 200); do cat out1 | sed s/1/2/ > sed$n; done
}
TIMEFORMAT='took %R %U %S'
time build
"""


@contextmanager
def volume(engine: Engine, image: str) -> Iterator[str]:
    """Give a volume of the command's user, gone at the end."""
    name = f"glovebox-bench-{secrets.token_hex(4)}"
    engine.api.create_volume(name)
    try:
        run("docker", "run", "--rm", "-u", "0", "-v", f"{name}:/workspace", "--network", "none",
            image, "chown", f"{UID}:{UID}", "/workspace")  # fmt: skip
        yield name
    finally:
        engine.api.remove_volume(name)


@contextmanager
def plain(image: str, mounted: str) -> Iterator[str]:
    """Give a container as one runs it by hand, with the box's limits."""
    name = f"glovebox-bench-{secrets.token_hex(4)}"
    run("docker", "run", "-d", "--name", name, "--network", "none", "--init",
        "--user", f"{UID}:{UID}", "-v", f"{mounted}:/workspace", "--tmpfs", "/tmp:exec",
        "--memory", str(LIMITS.memory), "--memory-swap", str(LIMITS.memory),
        "--pids-limit", str(LIMITS.pids), "--cpus", str(LIMITS.cpus),
        "--ulimit", f"fsize={LIMITS.file_size}", "--ulimit", "core=0",
        "--ulimit", f"nofile={FILES}", image, "sleep", "infinity")  # fmt: skip
    try:
        yield name
    finally:
        run("docker", "rm", "-f", name)


def parse_times(text: str) -> tuple[float, float]:
    """Return the seconds by the clock and of the processors that a load tells of itself."""
    words = text.rpartition("took ")[2].split()
    real, user, system = map(float, words[:3])
    return real, user + system


async def in_box(box: Box) -> tuple[float, float]:
    """Run the load in the box, every start of a program recorded as in a session."""

    def hear(_report: ExecReport) -> bool:
        return False

    outcome = await box.execute(ExecRequest(LOAD, "/workspace", 300.0), on_execs=hear)
    data = outcome.data
    if outcome.error is not None or data["exit_code"] != 0:
        raise RuntimeError(outcome.error or data["head"] + data["tail"])
    return parse_times(data["head"] + data["tail"])


async def in_plain(name: str) -> tuple[float, float]:
    """Run the load in the plain container."""
    script = ("docker", "exec", name, "bash", "-c", f"exec 2>&1\n{LOAD}")
    return parse_times((await anyio.to_thread.run_sync(lambda: run(*script))).decode())


async def bench(engine: Engine, rounds: int) -> None:
    """Print both and the ratios."""
    image = ensure_sandbox_image(engine, lambda line: print(line, file=sys.stderr)).name
    session = SessionId(secrets.token_hex(6))
    with (
        tempfile.TemporaryDirectory(prefix="gb-") as folder,
        volume(engine, image) as ours,
        volume(engine, image) as theirs,
        plain(image, theirs) as name,
    ):
        lifecycle = DockerLifecycle(engine, runtime=Path(folder))
        spec = BoxSpec(
            session=session,
            image=image,
            uid=UID,
            gid=UID,
            workdir="/workspace",
            mounts=(Mount("volume", ours, "/workspace"),),
            limits=LIMITS,
        )
        try:
            box = await lifecycle.start(spec)
            pairs = []
            for number in range(rounds + 1):
                if number % 2:
                    reference = await in_plain(name)
                    pairs.append((await in_box(box), reference))
                else:
                    pairs.append((await in_box(box), await in_plain(name)))
        finally:
            await lifecycle.stop(session)
    tell(pairs[1:])


def tell(pairs: list[tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Print medians of both, by the clock and of the processors, and of the pairs' ratios."""
    print(f"a load like a build, {len(pairs)} pairs")
    for index, kind in enumerate(("clock", "processors")):
        box = statistics.median(pair[0][index] for pair in pairs)
        other = statistics.median(pair[1][index] for pair in pairs)
        ratio = statistics.median(pair[0][index] / pair[1][index] for pair in pairs)
        print(f"  {kind:10}  box {box:7.2f} s   plain container {other:7.2f} s   {ratio:.2f} x")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with closing(connect()) as engine:
        anyio.run(bench, engine, arguments.rounds)


if __name__ == "__main__":
    main()
