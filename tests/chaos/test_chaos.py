"""Every kind of blow once; ``make chaos`` deals out many more."""

import random

import pytest

from tests.chaos.__main__ import Wave, place
from tests.chaos.faults import FAULTS

pytestmark = pytest.mark.docker

AT_ONCE = 3
SEED = 20


@pytest.mark.timeout(400)
def test_nothing_is_lost_or_left_whatever_happens():
    """Acknowledged work stays, nothing runs twice, every session goes on, nothing is left behind."""
    names = sorted(FAULTS)
    dice = random.Random(SEED)
    with place(own=False) as (root, engine):
        findings = [
            finding
            for first in range(0, len(names), AT_ONCE)
            for finding in Wave(root / str(first), engine, dice, AT_ONCE).play(
                names[first : first + AT_ONCE]
            )
        ]

    assert [finding.problems for finding in findings] == [[]] * len(names)
    assert sum(bool(finding.hit) for finding in findings) >= len(names) // 2
