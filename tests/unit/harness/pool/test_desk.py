"""A pool's process at its door: what it answers, and to what it does not."""

import json
import socket
import time
from pathlib import Path

import anyio
import pytest

from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.channel import ask, listen
from orchestrator.harness.pool.desk import Desk
from orchestrator.harness.pool.order import Order
from orchestrator.harness.pool.warm_pool import WarmPool

ORDER = Order(options=RunOptions(None, Path("/src/app"), ""), size=2, idle_s=60)


@pytest.fixture
def door(short_directory):
    return short_directory / "serve.sock"


def visit(door, *questions, raw=False):
    """Ask a pool without boxes, one question after another, and return the answers."""

    async def whole():
        pool = WarmPool(None, 0)
        answers = []
        with listen(door) as listener:
            async with anyio.create_task_group() as group:
                desk = Desk("abc", ORDER, pool, group.cancel_scope, time.monotonic())
                group.start_soon(desk.serve, listener)
                for question in questions:
                    put = say if raw else ask
                    answers.append(await anyio.to_thread.run_sync(put, door, question))
                group.cancel_scope.cancel()
        return answers

    return anyio.run(whole)


def say(door, words):
    """Send words as they are, and return what comes back."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(5)
        sock.connect(str(door))
        if words is not None:
            sock.send(words)
        return sock.recv(4096)


def test_status_tells_what_a_person_wants_to_know(door):
    """Whose pool it is, what waits, when it ends."""
    [(data, descriptors)] = visit(door, {"do": "status"})
    found = json.loads(data)

    assert descriptors == []
    assert found["directory"] == "/src/app"
    assert (found["pool"], found["size"], found["ready"], found["taken"]) == ("abc", 0, [], 0)
    assert 0 < found["ends_in_s"] <= 60


def test_pool_without_a_box_says_so(door):
    """In words that a session tells."""
    [(data, _)] = visit(door, {"do": "take", "key": "sha256:x"})

    assert "not ready yet" in json.loads(data)["none"]


def test_stop_ends_the_process(door):
    """After the answer."""
    [(data, _)] = visit(door, {"do": "stop"})

    assert json.loads(data) == {"stopping": True}


@pytest.mark.parametrize("words", [b"{", b"[]", b"\xff", b'{"key": 1}', b'{"do": "take"}', b"1"])
def test_odd_question_ends_that_talk_alone(door, words):
    """The next one is answered."""
    odd, sound = visit(door, words, b'{"do": "status"}', raw=True)

    assert odd == b""
    assert json.loads(sound)["pool"] == "abc"
