"""Makes every known attack in a real box and prints what each found; exits 1 where one worked.

    python -m tests.attack [SCRIPT …]

Rows come from ``table.yaml``; after them a box is searched by the enumeration here and by public
scripts that are at hand.
"""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.schema.request import WriteRequest
from orchestrator.schema.terminal_text import escape_terminal
from tests.attack.public_scripts import KNOWN, found_scripts, plain
from tests.support.boxes import Scene, Stage

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPT_S = 400.0
CONSOLE = Console(width=150)


@dataclass
class Verdict:
    """One line of the report."""

    name: str
    found: str
    usable: bool
    note: str = ""


def main(arguments: list[str]) -> int:
    """Run everything; 1 where something usable was found or a test did not run."""
    rows = yaml.safe_load((HERE / "table.yaml").read_text())
    verdicts = _rows(rows, _run_tests(rows)) + _enumerations(arguments)
    table = Table(title="attack -> what was found -> verdict", box=None)
    for column in ("attack", "found", "verdict"):
        table.add_column(column, overflow="fold")
    for verdict in verdicts:
        word = "USABLE" if verdict.usable else verdict.note or "nothing usable"
        table.add_row(
            *(plain(escape_terminal(text)) for text in (verdict.name, verdict.found, word))
        )
    CONSOLE.print(table)
    worked = [verdict.name for verdict in verdicts if verdict.usable]
    CONSOLE.print(f"{len(verdicts)} attacks, {len(worked)} with something usable", markup=False)
    return 1 if worked else 0


def _run_tests(rows: list[dict]) -> dict[str, str]:
    """Run every test that a row names; returns test to ``passed``, or to why not."""
    names = sorted({name for row in rows for name in _named(row)})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        words = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *names]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists():
            sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
        found: dict[str, list[str]] = {}
        for case in ET.parse(report).iter("testcase"):
            test = str(case.get("name")).partition("[")[0]
            outcome = next((c.tag for c in case if c.tag in {"failure", "error", "skipped"}), "")
            found.setdefault(test, []).append(outcome)
    results = {}
    for name in names:
        outcomes = found.get(name.partition("::")[2], ["missing"])
        bad = sorted({outcome for outcome in outcomes if outcome})
        results[name] = ", ".join(bad) or "passed"
    return results


def _named(row: dict) -> list[str]:
    return [*row.get("tests", ()), *row.get("controls", ())]


def _rows(rows: list[dict], results: dict[str, str]) -> list[Verdict]:
    verdicts = []
    for row in rows:
        tests = row.get("tests", ())
        bad = [
            f"{name.partition('::')[2]} {results[name]}"
            for name in _named(row)
            if results[name] != "passed"
        ]
        controls = f"; means proved by {count}" if (count := len(row.get("controls", ()))) else ""
        found = (
            "; ".join(bad) or f"{len(tests)} test{'s'[: len(tests) > 1]}, all refused{controls}"
            if tests
            else "not tried"
        )
        note = "" if tests else str(row["reason"])
        verdicts.append(Verdict(f"{row['row']:>2} {row['technique']}", found, bool(bad), note))
    return verdicts


def _enumerations(arguments: list[str]) -> list[Verdict]:
    engine = connect()
    try:
        image = ensure_sandbox_image(engine, lambda line: print(line, file=sys.stderr)).name
        with tempfile.TemporaryDirectory(prefix="gb-") as folder:
            stage = Stage(engine, image, Path(folder))
            verdicts = _own(_output(stage, HERE / "enumerate_box.py", "python3 enumerate_box.py"))
            scripts = list(found_scripts(arguments))
            for path in scripts:
                known = KNOWN.get(path.name)
                command = f"bash ./{path.name} {known.arguments if known else ''}"
                verdicts.append(_public(path.name, _output(stage, path, command)))
    finally:
        engine.close()
    if not scripts:
        CONSOLE.print("no public script at hand: name some in ARGS or ATTACK_SCRIPTS", markup=False)
    return verdicts


def _output(stage: Stage, path: Path, command: str) -> str:
    """Run a script in a box of its own and return all that it printed."""

    source = WriteRequest(f"/workspace/{path.name}", path.read_text())

    async def scene(scene: Scene) -> str:
        written = await scene.box.execute(source)
        if written.error is not None:
            sys.exit(f"{path}: {written.error}")
        outcome = await scene.run(f"{command} 2>&1", SCRIPT_S)
        return str(outcome.data["head"]) + str(outcome.data["tail"])

    return stage.play(scene)


def _own(output: str) -> list[Verdict]:
    lines = output.splitlines()
    checked = [line for line in lines if line.startswith(("FOUND ", "closed "))]
    if not lines or lines[-1] != f"checked {len(checked)}":
        return [Verdict("enumeration", f"broke off: {output[-300:]}", usable=True)]
    found = [line for line in checked if line.startswith("FOUND ")]
    closed = [line.removeprefix("closed ") for line in checked if line.startswith("closed ")]
    return [
        Verdict(f"enumeration: {len(closed)} checks", "closed: " + ", ".join(closed), usable=False),
        *(Verdict("enumeration", line, usable=True) for line in found),
    ]


def _public(name: str, output: str) -> Verdict:
    known = KNOWN.get(name)
    lines = [plain(line) for line in output.splitlines() if plain(line)]
    if known is None:
        last = " / ".join(lines[-3:])[:300]
        return Verdict(name, f"{len(lines)} lines: {last}", usable=False, note="for you to judge")
    if not any(known.ended in line for line in lines):
        return Verdict(name, f"broke off: {' / '.join(lines[-3:])[:300]}", usable=True)
    finds = known.finds(output)
    return Verdict(
        name, "; ".join(finds) or f"{len(lines)} lines, no claim of a way out", bool(finds)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
