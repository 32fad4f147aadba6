"""Tries every engine and prints a table engine x check; exits 1 where one is not as expected.

    python -m tests.conformance [ENGINE …]

An engine that cannot run here is named with the reason, never left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from tests.conformance.daemons import Missing, Running, load
from tests.conformance.engines import ENGINES, Engine

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/contract/test_box.py",
    *(
        f"tests/attack/test_{name}.py"
        for name in [
            "make_refused_calls",
            "call_as_32_bit",
            "open_odd_sockets",
            "see_the_host",
            "touch_the_server",
            "reach_the_network",
            "leave_beside_the_proxy",
            "overrun_the_way_out",
            "become_another_user",
            "write_outside",
            "fork_bomb",
            "eat_memory",
            "flood_output",
        ]
    ),
)
MARKS = {"ok": "✓", "lacks": "-", "failed": "✗", "none": "·"}


@dataclass
class Result:
    """What one engine did."""

    engine: Engine
    missing: str = ""
    """Why it was not tried."""
    checks: dict[str, str] = field(default_factory=dict)
    """Check or control to ``ok``, ``lacks``, ``none`` or ``failed``."""
    notes: list[str] = field(default_factory=list)

    @property
    def as_expected(self) -> bool:
        """Untried engines are neither."""
        return "failed" not in self.checks.values()


def main(names: list[str]) -> int:
    """Try the engines of these names, else all."""
    chosen = [engine for engine in ENGINES if not names or engine.name in names]
    if unknown := {*names} - {engine.name for engine in ENGINES}:
        sys.exit(f"no such engine: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="gbc-", dir="/tmp") as top:
        Path(top).chmod(0o755)
        archive = _archive(Path(top))
        results = [_try(engine, Path(top), archive) for engine in chosen]
    _print(results)
    return 0 if all(result.as_expected for result in results) else 1


def _archive(folder: Path) -> Path:
    """Save the sandbox image, for engines that do not have it."""
    engine = connect()
    try:
        name = ensure_sandbox_image(engine, lambda line: print(line, file=sys.stderr)).name
    finally:
        engine.close()
    archive = folder / "image.tar"
    subprocess.run(["docker", "save", name, "-o", str(archive)], check=True)
    return archive


def _try(engine: Engine, top: Path, archive: Path) -> Result:
    print(f"conformance: {engine.name}", file=sys.stderr, flush=True)
    result = Result(engine)
    folder = top / engine.name
    folder.mkdir()
    try:
        with ExitStack() as stack:
            running = stack.enter_context(engine.start(folder))
            if engine.loads:
                load(running.url if not running.environ else f"unix://{folder}/sock", archive)
            _ask(engine, running, result)
            _test(engine, running, folder / "junit.xml", result)
    except Missing as err:
        result.missing = str(err)
    return result


def _run(words: list[str], running: Running) -> subprocess.CompletedProcess[str]:
    inside = ["nsenter", f"--net=/proc/{running.network_of}/ns/net"] if running.network_of else []
    environ = {**os.environ, **running.environ}
    environ.pop("DOCKER_HOST", None)
    if running.url:
        environ["DOCKER_HOST"] = running.url
    return subprocess.run(
        [*inside, sys.executable, *words],
        env=environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def _ask(engine: Engine, running: Running, result: Result) -> None:
    """Take the posture from the doctor, as a person would see it."""
    done = _run([str(Path(sys.executable).with_name("glovebox")), "doctor", "--json"], running)
    report = json.loads(done.stdout)
    posture = report.get("posture")
    if posture is None:
        rows = [row for row in report["checks"] if row["name"] in {"box", "engine", "image"}]
        result.notes += [
            f"{row['name']}: {row['found']}" for row in rows if row["status"] == "fail"
        ]
        result.checks["posture"] = "failed"
        return
    refusing = {row["name"] for row in report["checks"] if row["status"] == "fail"}
    for name, holds in posture["controls"].items():
        known = name in engine.lacking
        if holds:
            result.checks[name] = "failed" if known else "ok"
            continue
        refuses = f"box.{name}" in refusing
        result.checks[name] = "lacks" if refuses == known else "failed"
        result.notes.append(f"{name}: {posture['found'][name]}")
    result.notes.append(f"transport: {posture['facts']['transport']}")


def _test(engine: Engine, running: Running, report: Path, result: Result) -> None:
    # The SDK's ssh transport leaves sockets to the collector; other engines are held to it in CI.
    words = ["-W", "ignore::pytest.PytestUnraisableExceptionWarning"]
    words = [
        "-m",
        "pytest",
        *words,
        "-q",
        "-m",
        "docker",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
    ]
    # Where limits lack no session starts, and an attack would hit this machine.
    tests = TESTS if engine.attacked else TESTS[:1]
    done = _run([*words, *tests], running)
    if not report.exists():
        result.checks["tests"] = "failed"
        result.notes.append(done.stdout[-500:] + done.stderr[-500:])
        return
    cases = ET.parse(report).iter("testcase")
    for case in sorted(cases, key=lambda case: (case.get("classname", ""), case.get("name", ""))):
        name = str(case.get("name"))
        plain = name.partition("[")[0]
        failure = case.find("failure")
        failure = case.find("error") if failure is None else failure
        if {name, plain} & engine.without.keys():
            result.checks[name] = "none"
        elif failure is not None:
            result.checks[name] = "failed"
            result.notes.append(f"{name}: {str(failure.get('message'))[:300]}")
        else:
            result.checks[name] = "ok"
    result.notes += sorted({*engine.without.values()})


def _print(results: list[Result]) -> None:
    tried = [result for result in results if not result.missing]
    table = Table(title="engine x check", box=None)
    table.add_column("check")
    for result in tried:
        table.add_column(result.engine.name, justify="center")
    for check in dict.fromkeys(name for result in tried for name in result.checks):
        marks = [MARKS[result.checks.get(check, "none")] for result in tried]
        table.add_row(check.replace("[", "\\["), *marks)
    console = Console(width=max(120, 50 + 11 * len(tried)))
    console.print(table)
    console.print(
        "✓ holds   - lacks, and is refused or told   ✗ not as expected   · does not apply"
    )
    for result in results:
        told = f"not tried: {result.missing}" if result.missing else "as expected"
        if not result.missing and not result.as_expected:
            told = "NOT AS EXPECTED"
        if result.engine.lacking and not result.missing:
            told += "; a session is refused for want of " + ", ".join(sorted(result.engine.lacking))
        console.print(f"{result.engine.name}: {told}", markup=False)
        for note in result.notes:
            console.print(f"    {note}", markup=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
