"""A command takes memory without end."""

import pytest

pytestmark = pytest.mark.docker

HOG = '''python3 -c "
print('started', flush=True)
held = []
while True:
    held.append(bytearray(16 * 1024 * 1024))
"'''


@pytest.mark.parametrize("command", [HOG, f"{HOG}; exit $?"], ids=["itself", "child"])
def test_memory_hog_ends_as_an_error_of_its_call(stage, command):
    """The kernel takes the command, not the server, and the outcome says why."""

    async def scene(scene):
        eaten = await scene.run(command)
        return eaten, await scene.output("echo next")

    eaten, following = stage.play(scene)
    print("tried inside:", eaten.data)

    assert eaten.data["head"].startswith("started\n")
    assert eaten.data["limit"] == "memory"
    assert following == "next\n"


def test_many_hogs_at_once_leave_the_server_alive(stage):
    """Several hogs together, ten times over, never take the session along."""

    async def scene(scene):
        for _ in range(3):
            eaten = await scene.run(f"{HOG} & {HOG} & {HOG} & wait; echo done")
            assert "started" in eaten.data["head"]
        return await scene.output("echo next")

    assert stage.play(scene) == "next\n"
