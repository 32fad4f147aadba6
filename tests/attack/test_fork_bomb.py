"""A command forks without end."""

import anyio
import pytest

pytestmark = pytest.mark.docker

WAITING = "bomb() { echo boom >> /tmp/ran; bomb | bomb & wait; }; bomb"
LEFT_BEHIND = ":(){ echo boom >> /tmp/ran; :|:& };:"
HIDING = """python3 -c '
import os, time
open("/tmp/ran", "w").write("boom")
while True:
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
    except OSError:
        time.sleep(0.01)
'"""


@pytest.mark.parametrize("bomb", [WAITING, LEFT_BEHIND, HIDING], ids=["waits", "leaves", "hides"])
def test_fork_bomb_ends_and_the_session_goes_on(stage, bomb):
    """The call that bombs is ended for its processes; the next one runs, in an empty box."""

    async def scene(scene):
        bombed = await scene.run(bomb, 20.0)
        ran = await scene.run("cat /tmp/ran | head -1", 20.0)
        counted = await scene.run("ls -d /proc/[0-9]* | wc -l", 20.0)
        return bombed, ran, counted

    bombed, ran, counted = stage.play(scene)
    print("tried inside:", bombed.data.get("limit"), ran.data["head"], counted.data["head"])

    assert ran.data["head"].startswith("boom")
    assert bombed.data["limit"] == "pids"
    assert not bombed.data["timed_out"]
    assert int(counted.data["head"]) < 20


def test_another_call_survives_a_fork_bomb(stage):
    """Only what bombs is ended: a call beside it keeps its process."""

    async def scene(scene):
        found = {}

        async def beside():
            found["beside"] = await scene.run("sleep 4; echo survived")

        async with anyio.create_task_group() as group:
            group.start_soon(beside)
            await anyio.sleep(0.5)
            found["bombed"] = await scene.run(WAITING, 20.0)
        return found

    found = stage.play(scene)

    assert found["bombed"].data["limit"] == "pids"
    assert found["beside"].data["head"] == "survived\n"
