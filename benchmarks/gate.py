"""CPU time of reading a command, over the corpus in tests/cases/gate.yaml.

Prints the median and the 99th percentile in milliseconds, the time to load the tables, and how the
whole relates to a bare tree-sitter parse of the same text. Run: ``python benchmarks/gate.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import tree_sitter_bash
import yaml
from tree_sitter import Language, Parser

from orchestrator.shell.analyse import analyse

CORPUS = Path(__file__).parent.parent / "tests" / "cases" / "gate.yaml"
ROUNDS = 5
"""The best of so many runs counts: a shared machine disturbs single ones."""


def best_time(act: Callable[[], object]) -> float:
    """Return the least CPU time of ``act`` in milliseconds."""
    times: list[int] = []
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        act()
        times.append(time.process_time_ns() - start)
    return min(times) / 1e6


def percentile(values: list[float], share: float) -> float:
    """Return the value below which ``share`` of the values lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    """Measure and print."""
    commands = [case["command"] for case in yaml.safe_load(CORPUS.read_text("utf-8"))]
    start = time.process_time_ns()
    analyse("python3 -c 'print(1)'; awk 1 f; git -c a.b=c status")
    loading = (time.process_time_ns() - start) / 1e6
    parser = Parser(Language(tree_sitter_bash.language()))
    whole = [best_time(lambda text=text: analyse(text)) for text in commands]
    encoded = [text.encode("utf-8", "surrogatepass") for text in commands]
    parse = [best_time(lambda data=data: parser.parse(data)) for data in encoded]
    print(f"commands            {len(commands)}")
    print(f"first call, loading {loading:8.1f} ms")
    print(f"analyse p50         {percentile(whole, 0.5):8.3f} ms")
    print(f"analyse p99         {percentile(whole, 0.99):8.3f} ms")
    print(f"analyse max         {max(whole):8.3f} ms")
    print(f"bare parse p50      {percentile(parse, 0.5):8.3f} ms")
    print(f"analyse / parse     {sum(whole) / sum(parse):8.1f}")


if __name__ == "__main__":
    main()
