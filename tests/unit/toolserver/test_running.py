import pytest

from tests.support.processes import Started, look

pytestmark = pytest.mark.docker


def test_end_of_one_tree_is_not_the_end_of_another(stage):
    """A command that is cancelled takes its own along; a process beside it stays."""

    async def scene(scene):
        beside = Started(scene)
        await beside.start("sleep 970; echo never")
        await scene.run("trap '' TERM; sleep 971 & setsid sleep 972 & wait", 0.3)
        left = await scene.output("pgrep -fa '^sleep 97'")
        return left, await beside.output()

    left, found = stage.play(scene)

    assert [line.split(" ", 1)[1] for line in left.splitlines()] == ["sleep 970"]
    assert found["running"]


def test_want_of_memory_is_told(stage):
    """A process that the kernel killed says why it is gone."""

    async def scene(scene):
        eater = "import time; kept = [bytearray(b'x' * 2**20) for _ in range(4096)]"
        return await Started(scene).start(f'python3 -c "{eater}"', look(wait_s=30.0))

    found = stage.play(scene)

    assert (found["running"], found["limit"]) == (False, "memory")
