import os

import anyio
import pytest

from orchestrator.engine.containers import find_containers
from orchestrator.harness.doctor_box import look_into_box


@pytest.mark.docker
def test_box_is_asked_and_gone(engine, paths):
    """The doctor tells what a session would find, and leaves nothing behind."""
    before = {found.id for found in find_containers(engine)}

    facts = anyio.run(lambda: look_into_box(paths, os.environ, policies=("default",)))

    assert facts.failure == ""
    assert facts.posture is not None
    assert {name for name in facts.required if not facts.posture.controls[name]} == set()
    mine = {
        found.id
        for found in find_containers(engine)
        if found.owner.split(":")[0] == str(os.getpid())
    }
    assert mine <= before


def test_policy_that_cannot_be_read_is_a_finding(paths):
    """The doctor goes on, and says it."""
    facts = anyio.run(lambda: look_into_box(paths, os.environ, policies=("no-such-policy",)))

    assert facts.posture is None
    assert "no-such-policy" in facts.failure
