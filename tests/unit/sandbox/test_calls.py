import json

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.calls import Calls
from orchestrator.sandbox.frames import (
    BOX_NUMBERS,
    CANCEL,
    CREDIT,
    DATA,
    OPEN,
    OUTPUT,
    PONG,
    REQUEST,
    RESULT,
    U32,
    WINDOW,
    Frame,
)
from orchestrator.sandbox.scripted import exec_outcome
from orchestrator.schema.stream import TcpTarget


class LinkStandIn:
    """Keeps what was sent."""

    def __init__(self):
        self.sent = []

    def send(self, call, kind, payload=b""):
        self.sent.append((call, kind, payload))


@pytest.fixture
def calls():
    calls = Calls()
    calls.link = LinkStandIn()
    calls.send_over(calls.link)
    return calls


def result(call, **answer):
    return Frame(call.number, RESULT, json.dumps(answer).encode())


DONE = dict(exec_outcome("x\n").data)


def test_answer_reaches_its_call(calls):
    """Answers come in any order."""
    first, second = calls.send({"kind": "exec"}), calls.send({"kind": "exec"})

    calls.take(result(second, data={**DONE, "head": "second"}))
    calls.take(result(first, error="no", code="failed"))

    assert second.outcome().data["head"] == "second"
    assert first.outcome().error == "no"


def test_request_goes_out_with_its_number(calls):
    """The box knows which call it works on, and how much output it may send ahead."""
    plain = calls.send({"kind": "ls", "path": "/"})
    streamed = calls.send({"kind": "exec"}, print)

    assert calls.link.sent[0] == (plain.number, REQUEST, b'{"kind":"ls","path":"/"}')
    assert json.loads(calls.link.sent[1][2])["credit"] == WINDOW == streamed.credit


def test_output_is_passed_on_and_paid_back(calls):
    """The window opens again as the host reads."""
    text = []
    call = calls.send({"kind": "exec"}, text.append)
    for _ in range(20):
        calls.take(Frame(call.number, OUTPUT, b"x" * 50_000))

    assert len("".join(text)) == 1_000_000
    granted = sum(U32.unpack(p)[0] for _, kind, p in calls.link.sent if kind == CREDIT)
    assert 1_000_000 - WINDOW <= granted <= 1_000_000


def test_character_that_is_cut_is_put_together(calls):
    """Pieces end anywhere; text does not."""
    text = []
    call = calls.send({"kind": "exec"}, text.append)
    calls.take(Frame(call.number, OUTPUT, "ü".encode()[:1]))
    calls.take(Frame(call.number, OUTPUT, "ü".encode()[1:] + b"\xc3"))
    calls.take(result(call, data=DONE))

    assert "".join(text) == "ü\ufffd"


def test_observer_that_fails_fails_its_call_alone(calls):
    """The connection is not torn, other calls go on, and the error is not lost."""

    def fail(_text):
        raise ZeroDivisionError

    first, second = calls.send({"kind": "exec"}, fail), calls.send({"kind": "exec"})
    calls.take(Frame(first.number, OUTPUT, b"x"))
    calls.take(result(second, data=DONE))
    calls.take(result(first, data=DONE))

    assert second.outcome().data == DONE
    with pytest.raises(ZeroDivisionError):
        first.outcome()


def test_more_output_than_allowed_is_a_breach(calls):
    """A box cannot flood the host."""
    call = calls.send({"kind": "exec"}, print)

    with pytest.raises(BoxError, match="more output"):
        calls.take(Frame(call.number, OUTPUT, b"x" * (WINDOW + 1)))


def test_output_nobody_asked_for_is_a_breach(calls):
    """A call that does not stream has no window."""
    call = calls.send({"kind": "exec"})

    with pytest.raises(BoxError, match="more output"):
        calls.take(Frame(call.number, OUTPUT, b"x"))


def test_answer_to_no_call_is_a_breach(calls):
    """Nor may a box answer twice, or what was never asked."""
    call = calls.send({"kind": "exec"})
    calls.take(result(call, data=DONE))

    for number in (call.number, 99):
        with pytest.raises(BoxError, match="not open"):
            calls.take(Frame(number, RESULT, b"{}"))


def test_frame_of_a_wrong_kind_is_a_breach(calls):
    """Calls get output and results, nothing else."""
    call = calls.send({"kind": "exec"})

    with pytest.raises(BoxError, match="kind 5"):
        calls.take(Frame(call.number, PONG, b""))


def test_end_of_the_box_fails_every_call(calls):
    """Whoever waits is told, whoever asks later too, with the first reason."""
    waiting = calls.send({"kind": "exec"})
    calls.fail(BoxError("box: it ended"))
    calls.fail(BoxError("box: it was stopped"))

    with pytest.raises(BoxError, match="it ended"):
        waiting.outcome()
    with pytest.raises(BoxError, match="it ended"):
        calls.send({"kind": "exec"})


def test_cancel_is_sent_for_what_still_runs(calls):
    """A call that is over needs no end."""
    running, over = calls.send({"kind": "exec"}), calls.send({"kind": "exec"})
    calls.take(result(over, data=DONE))
    calls.cancel(running)
    calls.cancel(running)
    calls.cancel(over)

    assert [(call, kind) for call, kind, _ in calls.link.sent[2:]] == [(running.number, CANCEL)]


def test_stream_has_a_number_of_its_own(calls):
    """It shares the connection and the counting with calls, and is told of the box's end."""
    call = calls.send({"kind": "exec"})
    stream = calls.open_stream(TcpTarget(8000))
    number, kind, body = calls.link.sent[1]

    assert (number, kind) == (call.number + 1, OPEN)
    assert json.loads(body) == {"to": {"tcp": 8000}, "credit": WINDOW}

    calls.fail(BoxError("box: it ended"))
    with pytest.raises(BoxError, match="it ended"):
        anyio.run(stream.receive)


def test_stream_is_forgotten_after_its_result(calls):
    """Another frame for it is a breach, as for any call."""
    calls.open_stream(TcpTarget(8000))
    calls.take(Frame(1, RESULT, b'{"data": {}}'))

    with pytest.raises(BoxError, match="not open"):
        calls.take(Frame(1, DATA, b"x"))


def test_box_opens_no_stream_of_its_own_accord(calls):
    """Nothing is let out unless the host asked for it."""
    with pytest.raises(BoxError, match="not its to open"):
        calls.take(Frame(BOX_NUMBERS, OPEN, b"{}"))


def test_too_many_calls_are_refused(calls):
    """Before the wire would refuse them."""

    async def scene():
        for _ in range(256):
            calls.send({"kind": "ls"})
        with pytest.raises(BoxError, match="at most 256"):
            calls.send({"kind": "ls"})

    anyio.run(scene)
