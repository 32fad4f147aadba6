"""Runs every benchmark, one after the other: ``python -m benchmarks [NAME …]``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__main__", "box_for_benchmarks"}


def main() -> int:
    """Run the named benchmarks, or all; the exit code is the worst one."""
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py"))
    worst = 0
    for name in names:
        if name in NOT_BENCHMARKS:
            continue
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
