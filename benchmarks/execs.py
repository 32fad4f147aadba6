"""What recording every start of a program costs: one box with the record, one without, in turns.

Run: ``python -m benchmarks execs``. A shell alone, and 2,000 starts one after the other.
"""

from __future__ import annotations

import json
import statistics
import time

import anyio

from benchmarks.box_for_benchmarks import open_box
from orchestrator.sandbox.driver import Executor
from orchestrator.schema.exec_record import ExecReport
from orchestrator.schema.request import ExecRequest

SHELLS = 200
ROUNDS = 11
STARTS = 2000
GOAL = 1.2
LOOP = f"i=0; while [ $i -lt {STARTS} ]; do /bin/true; i=$((i+1)); done"


async def _ms(box: Executor, command: str) -> tuple[float, int]:
    seen = 0

    def hear(report: ExecReport) -> bool:
        nonlocal seen
        seen += len(report.execs) + report.unlisted
        return False

    started = time.perf_counter()
    outcome = await box.execute(ExecRequest(command, "/workspace", 120.0), on_execs=hear)
    if outcome.error is not None or outcome.data["exit_code"] != 0:
        raise RuntimeError(f"{command}: {outcome}")
    return (time.perf_counter() - started) * 1000, seen


async def _ratio(watched: Executor, plain: Executor, command: str, rounds: int) -> dict[str, float]:
    pairs = []
    seen = 0
    for number in range(rounds):
        # Each goes first in every second round.
        boxes = (watched, plain) if number % 2 else (plain, watched)
        took = {}
        for box in boxes:
            took[id(box)], count = await _ms(box, command)
            seen += count
        pairs.append((took[id(watched)], took[id(plain)]))
    return {
        "with_ms": round(statistics.median(pair[0] for pair in pairs), 3),
        "without_ms": round(statistics.median(pair[1] for pair in pairs), 3),
        "ratio": round(statistics.median(pair[0] / pair[1] for pair in pairs), 3),
        "seen_per_round": seen / rounds,
    }


async def main() -> None:
    """Measure in turns, print one JSON object."""
    async with open_box() as watched, open_box(exec_record=False) as plain:
        shell = await _ratio(watched, plain, "true", SHELLS)
        many = await _ratio(watched, plain, LOOP, ROUNDS)
    met = shell["ratio"] <= GOAL and many["ratio"] <= GOAL
    result = {"shell": shell, f"{STARTS}_starts": many, "goal": GOAL, "met": met}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    anyio.run(main)
