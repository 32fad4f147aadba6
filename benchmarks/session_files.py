"""Session files of 100 MB: opening, appending, looking, copying; ratios to plain JSON reading.

``python -m benchmarks.session_files [--quick]`` needs no engine. The file is made as a session
makes it: turns with calls, results of some KiB, compactions, a branch that was left. The reference
is ``json.loads`` of each of the same lines, in the same process, turn about.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import Entry, SessionHeader
from orchestrator.sessions.export_html import html_page
from orchestrator.sessions.sharing import Shared
from orchestrator.sessions.stats import stats_of
from orchestrator.sessions.store import SessionStore, write_copy
from orchestrator.sessions.view import SessionView

MB = 1_000_000
RESULT = 8_000
"""Characters of one tool's output: the middle of what real sessions have."""
APPENDS = 500
HEADER = SessionHeader(SessionId("0123456789ab"), "/project", "2026-01-02T03:04:05Z")


def entries_of(size: int) -> list[Entry]:
    """Return entries that fill about ``size`` bytes."""
    text = "".join(f'src/module_{n}.py:{n}: value = compute("{n}")\n' for n in range(200))
    output = (text * 2)[:RESULT]
    found: list[Entry] = []
    parent = None
    turns = size // (RESULT + 900)
    for turn in range(turns):
        call = {"type": "tool_call", "id": f"c{turn}", "name": "bash", "arguments": "{}"}
        usage = {"input": 900, "output": 60, "cache_read": 9000, "cache_write": 0}
        answer = {"role": "assistant", "content": [call], "stop_reason": "tool_use"}
        result = {"call": f"c{turn}", "name": "bash", "output": output, "is_error": False}
        bodies = [
            ("message", {**answer, "usage": usage, "model": "m/one", "cost_usd": 0.01}),
            ("message", {"role": "tool", "results": [{**result, "images": []}]}),
        ]
        if turn % 200 == 199:
            bodies.append(("compaction", {"summary": "S" * 2000, "first_kept": parent}))
        for number, (kind, body) in enumerate(bodies):
            entry_id = f"{turn:010x}{number}"
            time_ = "2026-01-02T03:04:06.000000Z"
            found.append(Entry(entry_id, parent, kind, time_, body))  # type: ignore[arg-type]
            parent = entry_id
    return found


def timed(act: Callable[[], object]) -> tuple[float, object]:
    """Return the CPU seconds that something takes, and what it gives."""
    began = time.process_time()
    given = act()
    return time.process_time() - began, given


def read_plainly(path: Path) -> int:
    """Read all lines as JSON, which is the least that any reader does."""
    gc.disable()
    try:
        return len([json.loads(line) for line in path.read_bytes().splitlines()])
    finally:
        gc.enable()


def opening(path: Path, rounds: int) -> None:
    """Open for writing and for looking, each against reading the lines as JSON."""
    rows: dict[str, list[float]] = {"json.loads": [], "open": [], "view": []}
    wall = []
    for _ in range(rounds):
        rows["json.loads"].append(timed(lambda: read_plainly(path))[0])
        began = time.perf_counter()
        taken, store = timed(lambda: SessionStore.open(path))
        wall.append(time.perf_counter() - began)
        store.close()  # type: ignore[attr-defined]
        rows["open"].append(taken)
        rows["view"].append(timed(lambda: SessionView.open(path))[0])
    plain = statistics.median(rows["json.loads"])
    print(f"\nopening {path.stat().st_size / MB:.0f} MB ({rounds} rounds, medians, CPU time)")
    for name, values in rows.items():
        middle = statistics.median(values)
        print(f"  {name:12} {middle:6.2f} s   {middle / plain:5.2f} x json.loads")
    print(f"  open, wall   {statistics.median(wall):6.2f} s")


def appending(small: Path, large: Path) -> None:
    """Append to a small and to a large session, turn about."""
    body = {"role": "user", "content": [{"type": "text", "text": "x" * 500}]}
    with SessionStore.open(small) as little, SessionStore.open(large) as much:
        times: dict[str, list[float]] = {"small": [], "large": []}
        for _ in range(APPENDS):
            for name, store in (("small", little), ("large", much)):
                began = time.perf_counter()
                store.append("message", body)
                times[name].append(time.perf_counter() - began)
    first, second = (statistics.median(values) * 1e6 for values in times.values())
    print(f"\nappend without fsync ({APPENDS} pairs, medians)")
    print(f"  to {small.stat().st_size / MB:.1f} MB {first:.1f} us, ", end="")
    print(f"to {large.stat().st_size / MB:.0f} MB {second:.1f} us: {second / first:.2f} x")


def working(path: Path) -> None:
    """What is counted and written of a large session, against reading it."""
    view = SessionView.open(path)
    entries = view.tree.entries
    plain = timed(lambda: SessionView.open(path))[0]
    for name, act in (
        ("messages", view.tree.messages),
        ("stats", lambda: stats_of(entries)),
        ("html", lambda: html_page(Shared(view.header, tuple(entries)))),
    ):
        taken = timed(act)[0]
        print(f"  {name:12} {taken:6.2f} s   {taken / plain:5.2f} x opening")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, usage="session_files.py [--quick]")
    parser.add_argument("--quick", action="store_true", help="10 MB, few rounds")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        small, large = Path(folder) / "t_0123456789ab.jsonl", Path(folder) / "t_ba9876543210.jsonl"
        write_copy(small, HEADER, entries_of(100_000))
        write_copy(large, HEADER, entries_of((10 if quick else 100) * MB))
        opening(large, 2 if quick else 5)
        working(large)
        appending(small, large)


if __name__ == "__main__":
    main()
