"""The box against what people use today, side by side in one run; only the ratios travel.

``python benchmarks/box.py [--quick]`` needs the engine, the sandbox image and the docker command.
Every round visits all contenders in turn, so that a busy moment of the machine hits all of them;
numbers are medians in milliseconds. The references are ``docker exec`` into a plain container of
the same image, and a subprocess of the host without any container.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from orchestrator.engine.client import Engine, connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.sandbox.box import Box
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import BoxLimits, BoxSpec
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    ReadRequest,
    Replacement,
    Request,
    WriteRequest,
)

MIB = 1024**2
SESSIONS = 8
KILOBYTES_10 = "x" * 79 + "\n"
TRUE = ["bash", "-c", "true"]
FLOOD = "head -c 10000000 /dev/zero | tr '\\0' '\\n'"

Contender = Callable[[], Awaitable[object]]


def spec_for(image: str) -> BoxSpec:
    """Return a box with an empty workspace in memory."""
    return BoxSpec(
        session=SessionId(secrets.token_hex(6)),
        image=image,
        uid=1000,
        gid=1000,
        workdir="/workspace",
        mounts=(Mount("tmpfs", "", "/workspace", size=64 * MIB),),
        tmpfs={"/tmp": 128 * MIB},
        limits=BoxLimits(memory=1024 * MIB, disk=1024 * MIB),
    )


def run(*command: str, given: bytes | None = None) -> bytes:
    """Run a program of the host to its end and return its output."""
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout


def plain_container(image: str, name: str) -> None:
    """Start what ``docker exec`` is measured against."""
    run("docker", "run", "-d", "--network", "none", "--name", name, image, "sleep", "infinity")


@asynccontextmanager
async def running_box(
    engine: Engine, image: str, runtime: Path, *, sockets: bool
) -> AsyncIterator[Box]:
    """Start a box and end it."""
    lifecycle = DockerLifecycle(engine, runtime=runtime, sockets=sockets)
    spec = spec_for(image)
    try:
        yield await lifecycle.start(spec)
    finally:
        await lifecycle.stop(spec.session)


async def measure(
    contenders: dict[str, Contender], rounds: int, *, again: int = 1
) -> dict[str, list[float]]:
    """Return milliseconds of every contender, each round in another order.

    The box is asked ``again`` times in its turn: what takes a thousandth of its neighbour would
    else measure little but the neighbour's aftermath.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            for _ in range(again if name == "box" else 1):
                began = time.perf_counter()
                await contenders[name]()
                times[name].append((time.perf_counter() - began) * 1000)
    return times


def asking(box: Box, request: Request) -> Contender:
    """Return the contender that has a box do one request."""

    async def ask() -> None:
        outcome = await box.execute(request)
        if outcome.error is not None:
            raise RuntimeError(outcome.error)

    return ask


def taking_turns(box: Box, requests: list[Request]) -> Contender:
    """Return the contender that has a box do the requests one after the other, for ever."""
    asked = itertools.cycle([asking(box, request) for request in requests])

    async def ask() -> None:
        await next(asked)()

    return ask


def host(*command: str, given: bytes | None = None) -> Contender:
    """Return the contender that runs a program of the host and waits for it, nothing else."""

    async def wait() -> None:
        run(*command, given=given)

    return wait


def report(title: str, times: dict[str, list[float]], against: dict[str, tuple[str, ...]]) -> None:
    """Print medians and p95, and the first name's ratio to each reference."""
    print(f"\n{title}")
    middle = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        high = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
        print(f"  {name:34} p50 {middle[name]:8.3f} ms   p95 {high:8.3f} ms   n {len(values)}")
    for name, references in against.items():
        for reference in references:
            ratio = middle[name] / middle[reference]
            inverse = f"1/{1 / ratio:.1f}" if ratio < 1 else f"{ratio:.2f}"
            print(f"  {name} = {ratio:.3f} x {reference} ({inverse})")


async def calls(box: Box, stdio: Box, name: str, rounds: int) -> None:
    """Single calls: a command, a long output."""
    true = ExecRequest("true", "/workspace", 30.0)
    times = await measure(
        {
            "box": asking(box, true),
            "box by stdio": asking(stdio, true),
            "host subprocess": host(*TRUE),
        },
        rounds * 5,
    )
    report(
        "a call: bash -c true, against the host",
        times,
        {"box": ("host subprocess",), "box by stdio": ("host subprocess",)},
    )
    times = await measure(
        {"box": asking(box, true), "docker exec": host("docker", "exec", name, *TRUE)},
        rounds,
        again=10,
    )
    report("a call: bash -c true, against docker exec", times, {"box": ("docker exec",)})
    flood = ExecRequest(FLOOD, "/workspace", 60.0)
    found = await measure(
        {
            "box": asking(box, flood),
            "box by stdio": asking(stdio, flood),
            "host subprocess": host("bash", "-c", FLOOD),
            "docker exec": host("docker", "exec", name, "bash", "-c", FLOOD),
        },
        max(3, rounds // 3),
    )
    report("10 MB of output", found, {"box": ("host subprocess", "docker exec")})


async def files(box: Box, name: str, rounds: int) -> None:
    """Single file operations, each against the shortest command that does the same."""
    text = KILOBYTES_10 * 128
    other = text.replace("x", "y", 1)
    write, read = WriteRequest("/workspace/a", text), ReadRequest("/workspace/a")
    deep = "/workspace/" + "d/" * 6 + "a"
    into = ("docker", "exec", "-i", name, "sh", "-c", "cat > /tmp/a")
    store = host(*into, given=text.encode())
    show = host("docker", "exec", name, "cat", "/tmp/a")
    replace = host("docker", "exec", name, "sed", "-i", "1s/x/y/;t;1s/y/x/", "/tmp/a")
    for request in (write, WriteRequest(deep, text)):
        await asking(box, request)()
    run(*into, given=text.encode())
    await asking(box, WriteRequest("/workspace/b", other))()
    edits = [EditRequest("/workspace/b", (Replacement(old, new),)) for old, new in ("yz", "zy")]
    for title, requests, reference in (
        ("write 10 KB", [write], store),
        ("write 10 KB, a line of it new", [WriteRequest("/workspace/a", other), write], store),
        ("read 10 KB", [read], show),
        ("read 10 KB, six directories down", [ReadRequest(deep)], show),
        ("edit a line of 10 KB", edits, replace),
    ):
        found = await measure(
            {"box": taking_turns(box, requests), "docker exec": reference}, rounds, again=10
        )
        report(title, found, {"box": ("docker exec",)})


async def starts(engine: Engine, image: str, runtime: Path, rounds: int) -> None:
    """From nothing to the first result of a command."""
    lifecycle = DockerLifecycle(engine, runtime=runtime)
    await lifecycle.reap()
    boxes: list[SessionId] = []
    plain: list[str] = []

    async def start_box() -> None:
        spec = spec_for(image)
        boxes.append(spec.session)
        box = await lifecycle.start(spec)
        await box.execute(ExecRequest("true", "/workspace", 30.0))

    async def start_plain() -> None:
        plain.append(f"glovebox-bench-{secrets.token_hex(4)}")
        plain_container(image, plain[-1])
        run("docker", "exec", plain[-1], *TRUE)

    try:
        times = await measure(
            {"box": start_box, "docker run + first docker exec": start_plain}, rounds
        )
    finally:
        for session in boxes:
            await lifecycle.stop(session)
        run("docker", "rm", "-f", *plain)
    report("start to first result", times, {"box": ("docker run + first docker exec",)})


async def throughput(engine: Engine, image: str, runtime: Path, rounds: int) -> None:
    """Calls a second of eight sessions side by side."""
    lifecycle = DockerLifecycle(engine, runtime=runtime)
    specs = [spec_for(image) for _ in range(SESSIONS)]
    names = [f"glovebox-bench-{secrets.token_hex(4)}" for _ in range(SESSIONS)]
    box_rates, exec_rates = [], []
    try:
        boxes = [await lifecycle.start(spec) for spec in specs]
        for name in names:
            plain_container(image, name)
        for _ in range(3):
            box_rates.append(await _box_rate(boxes, rounds * 5))
            exec_rates.append(await anyio.to_thread.run_sync(_exec_rate, names, 4))
    finally:
        for spec in specs:
            await lifecycle.stop(spec.session)
        run("docker", "rm", "-f", *names)
    box_rate, exec_rate = statistics.median(box_rates), statistics.median(exec_rates)
    print(f"\n{SESSIONS} sessions side by side\n  box {box_rate:.0f} calls/s")
    print(f"  docker exec {exec_rate:.1f} calls/s")
    print(f"  box = {box_rate / exec_rate:.1f} x docker exec")


async def _box_rate(boxes: list[Box], count: int) -> float:
    true = ExecRequest("true", "/workspace", 60.0)

    async def work(box: Box) -> None:
        for _ in range(count):
            await box.execute(true)

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for box in boxes:
            group.start_soon(work, box)
    return len(boxes) * count / (time.perf_counter() - began)


def _exec_rate(names: list[str], count: int) -> float:
    def work(name: str) -> None:
        for _ in range(count):
            run("docker", "exec", name, *TRUE)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(work, names))
    return len(names) * count / (time.perf_counter() - began)


async def bench(rounds: int) -> None:
    """Run everything."""
    engine = connect()
    image = ensure_sandbox_image(engine, lambda line: print(line, file=sys.stderr)).name
    name = f"glovebox-bench-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        runtime = Path(folder)
        plain_container(image, name)
        try:
            async with (
                running_box(engine, image, runtime, sockets=True) as box,
                running_box(engine, image, runtime, sockets=False) as stdio,
            ):
                await calls(box, stdio, name, rounds)
                await files(box, name, rounds)
        finally:
            run("docker", "rm", "-f", name)
        await starts(engine, image, runtime, rounds)
        await throughput(engine, image, runtime, rounds)
    engine.close()


def main() -> None:
    """Print all ratios."""
    parser = argparse.ArgumentParser(description=__doc__, usage="box.py [--quick]")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    rounds = 4 if parser.parse_args().quick else 30
    anyio.run(bench, rounds)


if __name__ == "__main__":
    main()
