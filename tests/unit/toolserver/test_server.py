import anyio
import pytest

from orchestrator.schema.request import ReadRequest, WriteRequest

pytestmark = pytest.mark.docker


async def raw(scene, **body):
    """Send what no Request can say."""
    call = scene.box._calls.send(body)
    with anyio.fail_after(10):
        await call.done.wait()
    return call.outcome()


def test_request_of_another_shape_is_an_error_of_the_call(stage):
    """Whatever is asked, the server answers and lives."""

    async def scene(scene):
        return [
            await raw(scene, kind="exec"),
            await raw(scene, kind="exec", command=["a"], cwd="/", timeout_s=1),
            await raw(scene, kind="exec", command="true", cwd="/", timeout_s="soon"),
            await raw(scene, kind="exec", command="true", cwd="/", timeout_s=float("inf")),
            await raw(scene, kind="exec", command="true", cwd="/", timeout_s=-1),
            await raw(scene, kind="resolve"),
            await raw(scene, kind="read", path=5),
            await raw(scene, kind="launch"),
        ], await scene.output("echo next")

    refused, following = stage.play(scene)

    assert all(outcome.error for outcome in refused)
    assert following == "next\n"


def test_file_operations_are_the_command_users(stage):
    """A file the box wrote belongs to the user of the commands, small or large."""

    async def scene(scene):
        await scene.box.execute(WriteRequest("/workspace/small", "x"))
        await scene.box.execute(WriteRequest("/workspace/large", "x" * 500_000))
        denied = await scene.box.execute(WriteRequest("/workspace/../etc/planted", "x"))
        return denied, await scene.output("stat -c '%u:%g %s' small large")

    denied, text = stage.play(scene)

    assert text == "1000:1000 1\n1000:1000 500000\n"
    assert denied.code == "outside"


def test_secret_of_another_user_cannot_be_read(stage):
    """The server is root, its file operations are not."""

    async def scene(scene):
        return await scene.box.execute(ReadRequest("/data/shadow"))

    outcome = stage.play(scene, read_roots=("/data", "/etc", "/glove", "/root"))

    assert outcome.error is not None


@pytest.mark.parametrize("path", ["/glove/s", "/root", "/etc/shadow"])
def test_read_root_gives_no_more_than_the_user_has(stage, path):
    """A root-only file stays closed even where policy lists its directory."""

    async def scene(scene):
        return await scene.box.execute(ReadRequest(path))

    outcome = stage.play(scene, read_roots=("/etc", "/glove", "/root"))

    assert outcome.code in {"denied", "not_regular", "not_found"}


def test_two_hundred_calls_at_once_are_all_answered(stage):
    """More commands than the box can hold are refused with the reason; the rest run."""

    async def scene(scene):
        found = []

        async def call():
            found.append(await scene.run("echo x", 60.0))

        async with anyio.create_task_group() as group:
            for _ in range(200):
                group.start_soon(call)
        return found

    found = stage.play(scene)

    ran = [outcome for outcome in found if outcome.data.get("head") == "x\n"]
    refused = [outcome for outcome in found if outcome.code == "unavailable"]
    assert len(ran) >= 32
    assert len(ran) + len(refused) == 200
