import asyncio
import json
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import BoxError
from orchestrator.sandbox.departures import MOST_LOOK_UPS, Departures
from orchestrator.sandbox.frames import (
    BOX_NUMBERS,
    CANCEL,
    CREDIT,
    DATA,
    END,
    MAX_OUT,
    OPEN,
    RESULT,
    WINDOW,
    Frame,
)
from orchestrator.schema.egress import Caller
from orchestrator.schema.way_out import Incoming

FIRST = BOX_NUMBERS + 1


class Recorder:
    """An Outside that keeps what it was given and holds on to it until it is let go."""

    def __init__(self, failure=None):
        self.incoming = []
        self.names = []
        self.cancelled = 0
        self.go = anyio.Event()
        self.failure = failure

    async def serve(self, incoming, stream):
        self.incoming.append(incoming)
        if self.failure:
            raise self.failure
        try:
            await self.go.wait()
        except BaseException:
            self.cancelled += 1
            raise
        await stream.send(await stream.receive(), last=True)
        await stream.close()

    async def knows(self, name, caller):
        self.names.append((name, caller))
        if self.failure:
            raise self.failure
        await self.go.wait()
        return name == "known.example"


def body(origin=None, credit=WINDOW):
    return json.dumps({"from": origin or {"door": "proxy"}, "credit": credit}).encode()


def opened(number, origin=None):
    return Frame(number, OPEN, body(origin))


def play(scene, outside=None):
    sent = []

    async def bounded():
        departures = Departures()
        if outside is not None:
            departures.open(outside)
        with anyio.fail_after(5):
            await scene(departures, lambda call, kind, data=b"": sent.append((call, kind, data)))
            await departures.close()

    anyio.run(bounded)
    return sent


def test_connection_is_given_to_who_is_outside():
    """With all that the box said of it."""
    outside = Recorder()
    caller = {"pid": 7, "program": "/usr/bin/node", "argv": ["node", "x.js"]}
    origin = {"door": "transparent", "host": "a.example", "port": 443, "caller": caller}

    async def scene(departures, send):
        departures.take(opened(FIRST, origin), send)
        departures.take(Frame(FIRST, DATA, b"hello"), send)
        outside.go.set()
        await anyio.sleep(0.01)

    sent = play(scene, outside)

    expected = Caller(7, "/usr/bin/node", ("node", "x.js"))
    assert outside.incoming == [Incoming("transparent", "a.example", 443, expected)]
    assert [kind for _, kind, _ in sent] == [CREDIT, DATA, END, RESULT]


def test_look_up_is_answered():
    """A name is known or not, and nothing is opened for it."""
    outside = Recorder()
    outside.go.set()

    async def scene(departures, send):
        departures.take(opened(FIRST, {"name": "known.example"}), send)
        departures.take(opened(FIRST + 1, {"name": "other.example"}), send)
        await anyio.sleep(0.01)

    sent = play(scene, outside)

    answers = {call: json.loads(data)["data"]["known"] for call, kind, data in sent}
    assert answers == {FIRST: True, FIRST + 1: False}


@pytest.mark.filterwarnings("ignore")
def test_failure_outside_is_a_no_and_a_cut(caplog):
    """What goes wrong there lets nothing out; it is told, and ends nothing else."""
    outside = Recorder(RuntimeError("a slip\x1b[2J"))

    async def scene(departures, send):
        departures.take(opened(FIRST, {"name": "known.example"}), send)
        departures.take(opened(FIRST + 1), send)
        await anyio.sleep(0.01)

    sent = play(scene, outside)

    answers = {call: json.loads(data) for call, kind, data in sent if kind == RESULT}
    assert answers[FIRST] == {"data": {"known": False}}
    assert answers[FIRST + 1]["error"] == "cut off"
    assert "RuntimeError: a slip" in caplog.text
    assert "in serve" in caplog.text
    assert "\x1b" not in caplog.text


def test_end_cuts_off_what_is_open():
    """Nobody serves after it, and what comes late is refused."""
    outside = Recorder()

    async def scene(departures, send):
        departures.take(opened(FIRST), send)
        await anyio.sleep(0.01)
        departures.take(opened(FIRST + 1), send)
        departures.take(opened(FIRST + 2, {"name": "known.example"}), send)
        await departures.close()
        departures.take(opened(FIRST + 3), send)
        departures.take(Frame(FIRST, DATA, b"late"), send)
        departures.take(Frame(FIRST + 2, CANCEL, b""), send)

    sent = play(scene, outside)

    ended = {call for call, kind, _ in sent if kind == RESULT}
    assert {FIRST, FIRST + 1, FIRST + 3} <= ended
    assert outside.cancelled == 1


def test_who_does_not_let_go_is_not_waited_for_for_ever():
    """The program is cut off all the same, and the session ends."""

    class Stubborn(Recorder):
        async def serve(self, _incoming, _stream):
            while True:
                with suppress(BaseException):
                    await asyncio.sleep(0.05 if self.go.is_set() else 60)
                if self.go.is_set():
                    return

    outside = Stubborn()

    async def scene(departures, send):
        departures.take(opened(FIRST), send)
        await anyio.sleep(0.01)
        await departures.close(0.05)
        outside.go.set()
        await anyio.sleep(0.1)

    sent = play(scene, outside)

    assert [kind for _, kind, _ in sent] == [CREDIT, RESULT]


@pytest.mark.parametrize(
    "frame",
    [
        opened(BOX_NUMBERS),
        Frame(FIRST, DATA, b"before it was opened"),
        Frame(FIRST, OPEN, b"no JSON"),
        Frame(FIRST, OPEN, body(credit=WINDOW + 1)),
        Frame(FIRST, OPEN, body(credit=-1)),
        opened(FIRST, {"door": "back"}),
        opened(FIRST, {"door": "proxy", "host": "a" * 254}),
        opened(FIRST, {"door": "proxy", "host": "a b"}),
        opened(FIRST, {"door": "proxy", "host": "a\n"}),
        opened(FIRST, {"door": "proxy", "port": 65_536}),
        opened(FIRST, {"door": "proxy", "more": 1}),
        opened(FIRST, {"name": "a\x00b"}),
        opened(FIRST, {"door": "proxy", "caller": {"pid": 0, "program": "", "argv": []}}),
        opened(FIRST, {"door": "proxy", "caller": {"pid": 1, "program": "", "argv": ["x"] * 65}}),
    ],
    ids=lambda frame: str(frame.payload)[:60],
)
def test_what_does_not_fit_is_a_breach(frame):
    """The box is not believed."""

    async def scene(departures, send):
        with pytest.raises(BoxError):
            departures.take(frame, send)

    play(scene, Recorder())


def test_number_counts_once():
    """One that was used, or passed over, is not opened again."""

    async def scene(departures, send):
        departures.take(opened(FIRST + 5), send)
        for number in (FIRST + 5, FIRST):
            with pytest.raises(BoxError):
                departures.take(opened(number), send)

    play(scene, Recorder())


def test_box_that_was_let_nothing_out_of_may_open_nothing():
    """Whatever runs there."""

    async def scene(departures, send):
        with pytest.raises(BoxError):
            departures.take(opened(FIRST), send)

    play(scene)


def test_open_at_one_time_is_bounded():
    """The box keeps to it too; one that does not is no box of ours."""

    async def scene(departures, send):
        for number in range(MAX_OUT):
            departures.take(opened(FIRST + number), send)
        for number in range(MAX_OUT, MAX_OUT + MOST_LOOK_UPS):
            departures.take(opened(FIRST + number, {"name": "a"}), send)
        with pytest.raises(BoxError, match="connections"):
            departures.take(opened(FIRST + 5000), send)
        with pytest.raises(BoxError, match="names"):
            departures.take(opened(FIRST + 5001, {"name": "a"}), send)

    play(scene, Recorder())


@given(
    st.lists(
        st.tuples(
            st.integers(BOX_NUMBERS, BOX_NUMBERS + 4),
            st.sampled_from([OPEN, DATA, END, CREDIT, CANCEL, RESULT, 99]),
            st.one_of(st.binary(max_size=40), st.sampled_from([body(), body({"name": "a"})])),
        ),
        max_size=30,
    )
)
def test_any_frames_are_taken_or_are_a_breach(frames):
    """Nothing else comes of them."""

    async def scene(departures, send):
        for frame in frames:
            try:
                departures.take(Frame(*frame), send)
            except BoxError:
                return
        await anyio.lowlevel.checkpoint()

    play(scene, Recorder())
