"""What judging adds to reading: the time of ``evaluate`` less the time of ``analyse``.

``python benchmarks/evaluate.py`` prints milliseconds of CPU a command over the gate corpus.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from orchestrator.policy.cases import parse_cases
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.schema.request import ExecRequest
from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import Analysis

ROOT = Path(__file__).parent.parent
ROUNDS = 5


def main() -> None:
    """Print p50 and p99 for each shipped policy, and how long it takes to load."""
    text = (ROOT / "tests" / "cases" / "gate.yaml").read_text("utf-8")
    cases = parse_cases(text, file="gate.yaml")
    requests = [case.request for case in cases if isinstance(case.request, ExecRequest)]
    for name in ("default", "strict"):
        started = time.process_time()
        policy = load_policy([name], search=ROOT / "policies", user_file=None)
        loaded = (time.process_time() - started) * 1000
        added = [_fastest(policy, item) for item in requests]
        marks = statistics.quantiles(added, n=100)
        print(
            f"{name}: load {loaded:.1f} ms; evaluate less analyse, ms a command: "
            f"p50 {statistics.median(added):.3f} p99 {marks[98]:.3f} max {max(added):.3f}"
        )


def _fastest(policy: EffectivePolicy, request: ExecRequest) -> float:
    """Return the shortest of several times, in ms, with the command already read."""
    analysis = analyse(request.command, cwd=request.cwd)

    def known(command: str, **_places: str) -> Analysis:
        return analysis if command == request.command else analyse(command)

    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        evaluate(policy, request, tool="bash", read=known)
        times.append((time.process_time() - started) * 1000)
    return min(times)


if __name__ == "__main__":
    main()
