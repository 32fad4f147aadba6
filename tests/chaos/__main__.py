"""``python -m tests.chaos``: many sessions, a blow at each, and a count of what was lost or left."""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import docker

from orchestrator.engine.client import connect
from tests.chaos.faults import FAULTS, Blow
from tests.chaos.ledger import Finding, settle
from tests.chaos.story import TURNS, Moment, Story
from tests.support.workspaces import drop_homes

START_S = 1.5
"""About how long a process takes to its session's start; blows fall in it too."""
STEP_S = 0.3
"""About how long a turn takes."""


def main() -> int:
    """Run them all, print the table, and return 1 where anything was lost or left."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seed", type=int, default=None, help="the same blows again")
    parser.add_argument("--only", choices=sorted(FAULTS), default=None, help="one kind of blow")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    dice = random.Random(seed)
    names = [arguments.only] if arguments.only else sorted(FAULTS)
    plan = [(names[n % len(names)], any_moment(dice)) for n in range(arguments.sessions)]
    with tempfile.TemporaryDirectory(prefix="glovebox-chaos-") as root:
        Path(root).chmod(0o755)
        findings = run(plan, Path(root), at_once=arguments.at_once)
    return report(findings)


def any_moment(dice: random.Random) -> Moment:
    """Return a moment of a session's life."""
    point = dice.randrange(TURNS + 2)
    return Moment(point, dice.uniform(0, STEP_S if point else START_S))


def run(plan: list[tuple[str, Moment]], root: Path, *, at_once: int) -> list[Finding]:
    """Play the sessions, some side by side."""
    engine = docker.from_env()
    try:
        with ThreadPoolExecutor(at_once) as pool:
            plays = [
                pool.submit(play, root / str(number), engine, fault=fault, moment=moment)
                for number, (fault, moment) in enumerate(plan)
            ]
            return [each.result() for each in plays]
    finally:
        with closing(connect()) as own:
            drop_homes(own, root)
        engine.close()


def play(root: Path, engine: docker.DockerClient, *, fault: str, moment: Moment) -> Finding:
    """One session from its start to its last trace."""
    story = Story.begin(root, {})
    story.wait_for(moment)
    hit = FAULTS[fault](Blow(story, engine))
    return settle(story, engine, fault, hit)


def report(findings: list[Finding]) -> int:
    """Print one line a kind of blow, then every problem."""
    by_fault = defaultdict(list)
    for finding in findings:
        by_fault[finding.fault].append(finding)
    sys.stdout.write(f"{'blow':20} {'sessions':>8} {'hit':>5} {'resumed':>8} {'problems':>9}\n")
    for fault, found in sorted(by_fault.items()):
        hit = sum(bool(finding.hit) for finding in found)
        resumed = sum(finding.resumed == 0 for finding in found)
        problems = sum(len(finding.problems) for finding in found)
        sys.stdout.write(f"{fault:20} {len(found):8} {hit:5} {resumed:8} {problems:9}\n")
    wrong = [(finding, problem) for finding in findings for problem in finding.problems]
    for finding, problem in wrong:
        sys.stdout.write(f"{finding.fault} (exit {finding.code}): {problem}\n")
    sys.stdout.write(f"{len(findings)} sessions, {len(wrong)} problems\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
