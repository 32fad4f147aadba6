"""``python -m tests.chaos.kills``: one long story, killed at many writes, and what came out otherwise.

Each play is a story of its own, killed once, with SIGKILL, before or after a random write or fsync of
its session file or audit chain, and taken up again by ``--resume``.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from tests.chaos.long_story import End, LongStory, end_of, problems_of
from tests.support.workspaces import drop_homes


@dataclass(frozen=True)
class Played:
    """How one play came out."""

    point: tuple[int, int]
    """Its phase, and the step in it."""
    killed: bool
    interrupted: int
    """Calls that were running."""
    problems: list[str]


def play_all(points: int, *, seed: int, at_once: int) -> list[Played]:
    """Play once undisturbed, then once a point; the points are spread over all steps."""
    dice = random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="glovebox-kills-") as name,
        closing(connect()) as shared,
    ):
        root = Path(name)
        root.chmod(0o755)
        ensure_sandbox_image(shared, lambda _line: None)
        try:
            story = LongStory.begin(root / "undisturbed")
            steps = story.play()
            end = end_of(story)
            chosen = spread(steps, points, dice)
            with ThreadPoolExecutor(at_once) as pool:
                return list(pool.map(lambda at: _play(root / f"{at[0]}-{at[1]}", at, end), chosen))
        finally:
            drop_homes(shared, root)


def spread(steps: Sequence[int], points: int, dice: random.Random) -> list[tuple[int, int]]:
    """Return a random point of each of ``points`` equal pieces of the whole story."""
    whole = [(phase, step) for phase, count in enumerate(steps) for step in range(1, count + 1)]
    edges = [len(whole) * n // points for n in range(points + 1)]
    return [whole[dice.randrange(low, high)] for low, high in pairwise(edges)]


def _play(root: Path, point: tuple[int, int], undisturbed: End) -> Played:
    story = LongStory.begin(root)
    try:
        story.play(*point)
        end = end_of(story)
        story.clean()
    except AssertionError as failed:
        return Played(point, bool(story.kills), 0, [str(failed)[:1500]])
    lost = sum(result is None for result in end.results.values())
    problems = problems_of(end, undisturbed, story.kills)
    return Played(point, bool(story.kills), lost, problems)


def main() -> int:
    """Print every problem and the counts; return 1 where anything came out otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.kills", description=__doc__)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seed", type=int, default=None, help="the same points again")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    played = play_all(arguments.points, seed=seed, at_once=arguments.at_once)
    for one in played:
        for problem in one.problems:
            sys.stdout.write(f"phase {one.point[0]}, step {one.point[1]}: {problem}\n")
    killed, lost = sum(one.killed for one in played), sum(one.interrupted for one in played)
    bad = sum(bool(one.problems) for one in played)
    sys.stdout.write(f"{killed} killed, {lost} calls interrupted, {bad} came out otherwise\n")
    return int(bad > 0 or killed < len(played))


if __name__ == "__main__":
    sys.exit(main())
