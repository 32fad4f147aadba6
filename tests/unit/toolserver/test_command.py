import time

import anyio
import pytest

pytestmark = pytest.mark.docker


def outcome(stage, command, timeout_s=20.0):
    return stage.play(lambda scene: scene.run(command, timeout_s))


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [("exit 0", 0, None), ("exit 255", 255, None), ("kill -9 $$", None, 9), ("kill $$", None, 15)],
)
def test_end_is_reported_as_it_was(stage, command, code, number):
    """Exit code or signal, never both."""
    found = outcome(stage, command)

    assert (found.data["exit_code"], found.data["signal"]) == (code, number)
    assert found.data["limit"] is None


def test_both_streams_come_in_order(stage):
    """Errors stand where they happened."""
    found = outcome(stage, "echo 1; echo 2 >&2; echo 3; echo 4 >&2")

    assert found.data["head"] == "1\n2\n3\n4\n"


def test_streams_can_be_opened_by_their_names(stage):
    """Scripts write to /dev/stderr so; the kernel asks who owns the pipe."""
    found = outcome(stage, "echo 1 > /dev/stdout; echo 2 | tee /dev/stderr > /dev/null; echo 3")

    assert found.data["head"] == "1\n2\n3\n"


def test_time_out_ends_the_whole_tree(stage):
    """Children that left the session and the parent end as well, also those that ignore SIGTERM."""
    hiding = (
        "trap '' TERM; setsid sleep 900 & (setsid sh -c 'trap \"\" TERM; sleep 901 & sleep 902' &) "
        "; env -i nohup sleep 903 & echo up; sleep 904"
    )

    async def scene(scene):
        found = await scene.run(hiding, 0.6)
        return found, await scene.output("pgrep -fa '^sleep 90' || echo none")

    found, left = stage.play(scene)

    assert found.data["timed_out"]
    assert found.data["head"] == "up\n"
    assert left == "none\n"


def test_cancellation_ends_the_whole_tree_quickly(stage):
    """Once the caller is back, nothing of the call runs any more."""

    async def scene(scene):
        began = time.monotonic()
        with anyio.move_on_after(0.4):
            await scene.run("sleep 910 & setsid sleep 911 & sleep 912", 60.0)
        took = time.monotonic() - began
        return took, await scene.output("pgrep -fa '^sleep 91' || echo none")

    took, left = stage.play(scene)

    assert left == "none\n"
    assert took < 5


def test_background_child_does_not_hang_the_call(stage):
    """The call ends with its command; what it left behind runs on and may still print."""

    async def scene(scene):
        began = time.monotonic()
        found = await scene.run(
            "(while sleep 0.2; do echo tick; echo tick >> ticks; done) & echo started"
        )
        took = time.monotonic() - began
        await anyio.sleep(1.2)
        return found, took, await scene.output("wc -l < ticks")

    found, took, ticks = stage.play(scene)

    assert found.data["head"].startswith("started\n")
    assert took < 3
    assert int(ticks) >= 2


def test_output_after_the_shell_ended_is_still_taken(stage):
    """What a last child prints at once belongs to the call."""
    found = outcome(stage, "(sleep 0.03; echo late) & exit 0")

    assert found.data["head"] == "late\n"


def test_calls_overlap_and_end_apart(stage):
    """The time-out of one does not touch another."""

    async def scene(scene):
        found = {}

        async def call(name, command, timeout_s):
            found[name] = await scene.run(command, timeout_s)

        async with anyio.create_task_group() as group:
            group.start_soon(call, "long", "setsid sleep 1; echo done", 20.0)
            group.start_soon(call, "short", "sleep 30", 0.3)
        return found

    found = stage.play(scene)

    assert found["long"].data["head"] == "done\n"
    assert found["short"].data["timed_out"]


def test_streamed_output_comes_while_the_command_runs(stage):
    """A person sees progress, not the end of it."""

    async def scene(scene):
        times = []
        await scene.run(
            "for i in 1 2 3; do echo $i; sleep 0.3; done",
            20.0,
            lambda _: times.append(time.monotonic()),
        )
        return times

    times = stage.play(scene)

    assert times[-1] - times[0] > 0.4
