"""Which skill a path ends with; what a file says of it is read with care."""

import pytest

from orchestrator.harness.skills.past import Past, past_skill
from orchestrator.sessions.entry import Entry


def path(*bodies):
    return [Entry(str(at), None, "skill_change", "t", body) for at, body in enumerate(bodies)]


@pytest.mark.parametrize(
    ("bodies", "found"),
    [
        ([], None),
        ([{"skill": "a"}, {"skill": None}], None),
        ([{"skill": 5}], None),
        (
            [{"skill": "a", "by": "model", "confidence": 0.7, "digest": "d", "rules": "r"}],
            Past("a", "model", 0.7, "d", "r"),
        ),
        ([{"skill": "a", "by": "?", "confidence": "x"}], Past("a", "user", 1.0, None, None)),
    ],
)
def test_the_last_change_counts(bodies, found):
    """What is not known counts as a person's word, which does not end by itself."""
    assert past_skill(path(*bodies)) == found
