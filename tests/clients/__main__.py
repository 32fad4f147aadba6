"""`make clients`: every agent does a scripted task in a box, keyless; those that ask are refused one.

ARGS name some of them. The transcript of requests is printed for each.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.clients.agents import AGENTS
from tests.clients.play import KEY, Played, changed, drop, kept_in, play

ASKING = {"pi", "pi-chat", "pi-responses", "claude", "codex"}
"""Agents whose hooks ask the gate."""


def problems(name: str, root: Path) -> list[str]:
    """Play one agent; return what is wrong, and print what was asked."""
    made = play(AGENTS[name], "make the file", root / "make")
    for line in made.transcript():
        sys.stdout.write(f"  {line}\n")
    found = _wrong(made)
    if "made.txt" not in changed(made):
        found.append("the file was not made")
    drop(made)
    if name in ASKING:
        asked = play(AGENTS[name], "publish the work", root / "publish")
        refusals = [event for event in asked.events("decision") if event["effect"] == "ask"]
        shown = [event["reason"] for event in refusals]
        sys.stdout.write(f"  gate: git push: {shown}\n")
        if "AGENT-REFUSED" not in asked.said or not shown:
            found.append("a push was not refused by the gate")
        drop(asked)
    return found


def _wrong(played: Played) -> list[str]:
    found = []
    if played.ended.code != 0 or "AGENT-DONE" not in played.said:
        found.append(f"exit code {played.ended.code}: {played.said[-2000:]}{played.ended.err}")
    if not played.asked:
        found.append("the provider answered nothing")
    found += [f"the key is in {path}" for path in kept_in(played, KEY)]
    return found


def main(names: list[str]) -> int:
    """Play them all; 1 where something is wrong."""
    wrong = 0
    for name in names or AGENTS:
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        with tempfile.TemporaryDirectory(prefix="gb-") as folder:
            Path(folder).chmod(0o755)
            found = problems(name, Path(folder))
        for problem in found:
            sys.stdout.write(f"  WRONG: {problem}\n")
        wrong += bool(found)
    sys.stdout.write(f"{wrong} of {len(names or AGENTS)} agents failed\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
