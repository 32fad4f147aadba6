"""``python -m tests.chaos``: many sessions, a blow at each, and a count of what was lost or left.

With ``--own-engine`` (root) they run on an engine of their own, which is then struck as well.
"""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import docker

from orchestrator.config.assets import asset
from orchestrator.engine.client import connect
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import ensure_sandbox_image
from tests.chaos.engine_faults import ENGINE_FAULTS
from tests.chaos.faults import FAULTS, Blow
from tests.chaos.ledger import Finding, settle
from tests.chaos.story import TURNS, Moment, Story
from tests.support.second_engine import SecondEngine, second_engine
from tests.support.workspaces import drop_homes

START_S = 1.5
"""About how long a process takes to its session's start; blows fall in it too."""
WAVE_S = 6.0
"""About how long several sessions side by side take."""
STEP_S = 0.3
"""About how long a turn takes."""


def main() -> int:
    """Run them all, print the table, and return 1 where anything was lost or left."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seed", type=int, default=None, help="the same blows again")
    parser.add_argument("--only", choices=sorted({*FAULTS, *ENGINE_FAULTS}), help="one blow")
    parser.add_argument("--own-engine", action="store_true", help="strike the engine too")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    dice = random.Random(seed)
    known = [*FAULTS, *(ENGINE_FAULTS if arguments.own_engine else ())]
    names = [arguments.only] if arguments.only else known
    waves = -(-arguments.sessions // arguments.at_once)
    with place(own=arguments.own_engine) as (root, engine):
        findings: list[Finding] = []
        for number in range(waves):
            wave = Wave(root / str(number), engine, dice, arguments.at_once)
            findings += wave.play(
                [
                    names[(number * arguments.at_once + n) % len(names)]
                    for n in range(arguments.at_once)
                ]
            )
    return report(findings)


@contextmanager
def place(*, own: bool) -> Iterator[tuple[Path, SecondEngine | None]]:
    """Give a directory for the sessions, and their engine where it is not the shared one."""
    with tempfile.TemporaryDirectory(prefix="glovebox-chaos-") as name:
        root = Path(name)
        root.chmod(0o755)
        with closing(connect()) as shared:
            ensure_sandbox_image(shared, lambda _line: None)
            if own:
                (root / "engine").mkdir()
                with second_engine(root / "engine") as engine:
                    engine.load(sandbox_image_name(asset("sandbox-image")))
                    yield root, engine
            else:
                yield root, None
                drop_homes(shared, root)


class Wave:
    """Some sessions side by side; a blow at the engine falls on all of them."""

    def __init__(
        self, root: Path, engine: SecondEngine | None, dice: random.Random, size: int
    ) -> None:
        self._root = root
        self._engine = engine
        self._dice = dice
        self._size = size
        self._strike: Future[None] | None = None

    def play(self, names: list[str]) -> list[Finding]:
        """Return how each session came out."""
        struck = [name for name in names if name in ENGINE_FAULTS]
        with ThreadPoolExecutor(self._size + 1) as pool:
            if struck and self._engine is not None:
                after_s = self._dice.uniform(0, WAVE_S)
                self._strike = pool.submit(ENGINE_FAULTS[struck[0]], self._engine, after_s)
                plays = [pool.submit(self._one, n, struck[0], None) for n in range(self._size)]
            else:
                plays = [
                    pool.submit(self._one, n, name, self._moment()) for n, name in enumerate(names)
                ]
            return [each.result() for each in plays]

    def _one(self, number: int, name: str, moment: Moment | None) -> Finding:
        """Play one session from its start to its last trace."""
        more = {"DOCKER_HOST": self._engine.url} if self._engine else {}
        story = Story.begin(self._root / str(number), more)
        hit = "the engine"
        if moment is not None:
            story.wait_for(moment)
            with closing(self._client()) as client:
                hit = FAULTS[name](Blow(story, client))
        ended = story.finish()
        self._until_the_strike_is_over()
        with closing(self._client()) as client:
            return settle(story, ended, client, fault=name, hit=hit)

    def _until_the_strike_is_over(self) -> None:
        """A session that ends in order without its engine may be over before the engine is back."""
        if self._strike is not None:
            self._strike.result()

    def _client(self) -> docker.DockerClient:
        return docker.DockerClient(self._engine.url) if self._engine else docker.from_env()

    def _moment(self) -> Moment:
        point = self._dice.randrange(TURNS + 2)
        return Moment(point, self._dice.uniform(0, STEP_S if point else START_S))


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
