import anyio
import pytest

from orchestrator.errors import BoxError, EngineError, ScriptError
from orchestrator.sandbox.scripted import Reply, ScriptedBox, ScriptedLifecycle
from orchestrator.schema.posture import CONTROLS, Posture
from orchestrator.schema.request import ExecRequest, ReadRequest
from tests.support.boxes import small_spec


def run(box, command):
    return anyio.run(box.execute, ExecRequest(command, "/workspace", 5.0))


def test_unknown_command_ends_the_run():
    """A test whose script does not fit must not pass by accident."""
    with pytest.raises(ScriptError, match="rm -rf") as caught:
        run(ScriptedBox({"ls": Reply()}), "rm -rf /")

    assert "ls" in caught.value.hint


def test_failure_of_the_box_can_be_scripted():
    """So that what happens above it can be tested."""
    with pytest.raises(BoxError, match="gone"):
        run(ScriptedBox({"ls": Reply(failure=BoxError("gone"))}), "ls")


def test_what_was_asked_is_remembered():
    """Tests look at what reached the box, and at the files it left."""
    box = ScriptedBox({"ls": Reply("a\n")}, files={"/workspace/a": "x"})
    run(box, "ls")
    anyio.run(box.execute, ReadRequest("/workspace/a"))

    assert [request.kind for request in box.requests] == ["exec", "read"]
    assert box.files == {"/workspace/a": "x"}


def test_posture_can_lack_a_control():
    """So that refusing such a box can be tested."""
    lacking = Posture(controls={**dict.fromkeys(CONTROLS, True), "seccomp": False})

    assert anyio.run(ScriptedBox(posture=lacking).probe) == lacking


def test_session_has_one_box():
    """As a container's name is taken."""

    async def scene():
        lifecycle = ScriptedLifecycle()
        spec = small_spec("scripted")
        await lifecycle.start(spec)
        with pytest.raises(EngineError, match="has a box"):
            await lifecycle.start(spec)

    anyio.run(scene)


def test_reap_tells_once():
    """What was removed is gone."""
    lifecycle = ScriptedLifecycle(left_behind=["abc"])

    assert anyio.run(lifecycle.reap) == ["abc"]
    assert anyio.run(lifecycle.reap) == []
