"""The demo, whole: it must never disappoint somebody who tries the program out."""

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]


def test_demo_mends_the_test_stops_the_rest_and_leaves_nothing(world):
    """Everything real, no key: the answer, the applied change and the audit are shown."""
    ended = world.run("demo", env={"TMPDIR": str(world.root)})

    assert ended.code == 0, ended.err
    assert "audit verify: intact, closed" in ended.out
    assert "changes applied" in ended.err
    assert list(world.root.glob("glovebox-demo-*")) == []
    assert not world.state.exists()
