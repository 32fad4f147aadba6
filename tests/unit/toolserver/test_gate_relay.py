"""The gate's end in the box: questions of programs out, answers in."""

import json
import os
import socket
import threading

import pytest
from gate_relay import MAX_LINE, Relay


@pytest.fixture
def relay(tmp_path):
    """Run one; give a way to connect, the questions that come out and a way to answer."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{tmp_path}/gate")
    listener.listen(64)
    answers, answering = os.pipe()
    questions, asking = os.pipe()
    thread = threading.Thread(target=Relay(listener, answers, asking).run)
    thread.start()
    made = []

    def connect(said=b""):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        client.connect(f"{tmp_path}/gate")
        client.sendall(said)
        made.append(client)
        return client

    out = os.fdopen(questions, "rb")
    yield connect, out, answering
    os.close(answering)
    thread.join(20)
    assert not thread.is_alive()
    for one in (listener, out, *made):
        one.close()
    os.close(answers)
    os.close(asking)


def answer(fd, number, decision):
    body = {"id": number, "answer": {"decision": decision, "reason": ""}}
    os.write(fd, json.dumps(body).encode() + b"\n")


def test_each_gets_its_own_answer_in_any_order(relay):
    """Questions wait beside each other."""
    connect, out, answering = relay
    first, second = connect(b'{"a": 1}\n'), connect(b'{"a":')
    asked = [json.loads(out.readline())]
    second.sendall(b" 2}\n")
    asked.append(json.loads(out.readline()))
    assert [one["body"]["a"] for one in asked] == [1, 2]
    answer(answering, asked[1]["id"], "deny")
    answer(answering, 999, "allow")
    answer(answering, asked[0]["id"], "allow")

    assert b"deny" in second.recv(1000)
    assert b"allow" in first.recv(1000)
    assert first.recv(1) == b""


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense\n",
        b"[1]\n",
        b"x" * (MAX_LINE + 100),
        b'{"a": NaN}\n',
        b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}\n",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    ],
)
def test_what_is_no_question_is_cut_off(relay, said):
    """The next one is asked all the same."""
    connect, out, answering = relay
    try:
        heard = connect(said).recv(1)
    except ConnectionError:
        heard = b""
    after = connect(b'{"a": 3}\n')
    asked = json.loads(out.readline())
    answer(answering, asked["id"], "allow")

    assert heard == b""
    assert b"allow" in after.recv(1000)


def test_who_goes_before_the_answer_harms_nobody(relay):
    """The answer is dropped."""
    connect, out, answering = relay
    connect(b'{"a": 1}\n').close()
    asked = json.loads(out.readline())
    answer(answering, asked["id"], "allow")
    after = connect(b'{"a": 2}\n')
    answer(answering, json.loads(out.readline())["id"], "deny")

    assert b"deny" in after.recv(1000)


def test_half_a_character_is_no_breach(relay):
    """Agents of JavaScript have them; programs write U+FFFD in their place, so that is judged."""
    connect, out, answering = relay
    connect(b'{"a": "x\\ud800y", "b": "\\ud83d\\ude00"}\n')
    line = out.readline()
    asked = json.loads(line)
    answer(answering, asked["id"], "deny")

    assert asked["body"] == {"a": "x\ufffdy", "b": "\U0001f600"}
    assert line.decode()
