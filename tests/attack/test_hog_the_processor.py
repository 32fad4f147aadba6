"""A command takes all processor time that it can get."""

import time

import anyio
import pytest

pytestmark = pytest.mark.docker

HOGS = "echo started > ran; for i in $(seq 60); do (while :; do :; done) & done; sleep 7; kill 0"


def test_starved_box_is_not_taken_for_a_dead_one(stage):
    """The heartbeat gets through for longer than a silence may last, and calls are answered."""

    async def scene(scene):
        answers = []

        async def ask():
            await anyio.sleep(5)
            began = time.monotonic()
            answers.append((await scene.output("cat ran"), time.monotonic() - began))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            hogged = await scene.run(HOGS, 20.0)
        return hogged, answers, await scene.output("echo next")

    hogged, [(answer, took)], following = stage.play(scene)
    print("tried inside:", answer, took, hogged.data["signal"])

    assert answer == "started\n"
    assert took < 5
    assert following == "next\n"
