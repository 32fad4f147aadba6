import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.box import MARGIN_S, MAX_CONTENT, Box
from orchestrator.sandbox.calls import Calls
from orchestrator.sandbox.driver import PathRefusedError
from orchestrator.sandbox.frames import CANCEL, REQUEST, RESULT, Frame
from orchestrator.schema.request import ExecRequest, ReadRequest, WriteRequest
from tests.support.boxes import small_spec


class LinkStandIn:
    """A box that answers each request by the test's rule, at once or never."""

    def __init__(self, calls, answer):
        self.calls = calls
        self.answer = answer
        self.kinds = []

    def send(self, call, kind, _payload=b""):
        self.kinds.append(kind)
        answer = self.answer(kind)
        if answer is not None:
            self.calls.take(Frame(call, RESULT, answer))


def box_that(answer):
    calls = Calls()
    calls.link = LinkStandIn(calls, answer)
    # The answer must come after ``send`` has returned, as over a real wire.
    calls.send_over(calls.link)
    return Box(small_spec("image"), calls, {}), calls


CANCELLED = b'{"error": "cancelled", "code": "cancelled"}'


def test_oversized_content_never_leaves_the_host():
    """The model is told to write in parts."""
    box, calls = box_that(lambda _: None)

    outcome = anyio.run(box.execute, WriteRequest("/workspace/a", "x" * (MAX_CONTENT + 1)))

    assert outcome.code == "too_large"
    assert calls.link.kinds == []


@pytest.mark.docker
def test_largest_content_is_written(stage):
    """Four bytes a character is the most that any takes."""

    async def scene(scene):
        request = WriteRequest("/workspace/a", "\U0001f600" * MAX_CONTENT)
        return await scene.box.execute(request), await scene.output("stat -c %s a")

    written, size = stage.play(scene)

    assert written.error is None
    assert int(size) == 4 * MAX_CONTENT


def test_call_without_an_answer_is_ended_in_time():
    """The box has its own limit; when it forgets it, the host does not."""
    box, calls = box_that(lambda kind: CANCELLED if kind == CANCEL else None)

    outcome = anyio.run(box.execute, ExecRequest("sleep 9", "/workspace", 0.05 - MARGIN_S))

    assert outcome.code == "cancelled"
    assert calls.link.kinds == [REQUEST, CANCEL]


def test_cancelled_caller_waits_for_the_end_in_the_box():
    """When ``execute`` is left, the command's effects are over."""
    box, calls = box_that(lambda kind: CANCELLED if kind == CANCEL else None)

    async def scene():
        with anyio.move_on_after(0.05) as scope:
            await box.execute(ExecRequest("sleep 9", "/workspace", 9))
        assert scope.cancelled_caught

    anyio.run(scene)

    assert calls.link.kinds == [REQUEST, CANCEL]
    assert calls.failure is None


def test_box_that_does_not_end_a_call_is_given_up():
    """The caller is not held for ever; every later call fails."""
    box, _ = box_that(lambda _: None)

    async def scene():
        with anyio.move_on_after(0.05):
            await box.execute(ExecRequest("sleep 9", "/workspace", 9))
        with pytest.raises(BoxError, match="did not end a call"):
            await box.execute(ExecRequest("true", "/workspace", 9))

    anyio.run(scene)


def test_path_that_lands_nowhere_is_refused():
    """The tool tells the model, policy never sees it."""
    box, _ = box_that(lambda _: b'{"error": "a loop", "code": "invalid"}')

    with pytest.raises(PathRefusedError, match="a loop"):
        anyio.run(box.resolve, ReadRequest("/workspace/a"))


def test_probe_that_fails_is_no_posture():
    """No answer must not read as all is well."""
    box, _ = box_that(lambda _: b'{"error": "no", "code": "failed"}')

    with pytest.raises(BoxError, match="the probe failed"):
        anyio.run(box.probe)
