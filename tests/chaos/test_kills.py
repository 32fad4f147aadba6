"""A long run that is killed comes to the same end; ``make kills`` does it at 100 points."""

import pytest

from tests.chaos.kills import play_all

pytestmark = pytest.mark.docker

POINTS = 10
SEED = 6


@pytest.mark.timeout(400)
def test_killed_at_any_write_a_long_run_comes_to_the_same_tree_and_repeats_nothing():
    """Two branches, compacted on both; only the call that ran may be closed as interrupted."""
    played = play_all(POINTS, seed=SEED, at_once=2)

    assert [one.problems for one in played] == [[]] * POINTS
    assert all(one.killed for one in played)
    assert sum(one.interrupted for one in played) > 0
