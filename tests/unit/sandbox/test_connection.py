"""A host meets servers that a test plays, honest and lying ones, over plain sockets."""

import json
import socket
import struct
import threading

import anyio
import pytest

from orchestrator.engine.attachment import Attachment
from orchestrator.errors import BoxError
from orchestrator.sandbox.connection import Connection
from orchestrator.sandbox.frames import HELLO, PONG, READY, REQUEST, RESULT, TOKEN, Decoder, encode
from orchestrator.sandbox.heart import Heart
from orchestrator.sandbox.runtime_dir import SocketDirectory
from orchestrator.sandbox.scripted import exec_outcome

READY_STDIO = b'{"version": 4, "transport": "stdio", "problem": null}'
READY_SOCKET = b'{"version": 4, "transport": "socket", "problem": null}'
ANSWER = json.dumps({"data": dict(exec_outcome("hi\n").data)}).encode()


class Server:
    """The other end of the lifeline, in a thread."""

    def __init__(self, work):
        ours, self.line = socket.socketpair()
        ours.setblocking(False)
        self.attachment = Attachment(ours, None)
        self.decoder = Decoder()
        self.thread = threading.Thread(target=self._work, args=(work,))
        self.thread.start()

    def _work(self, work):
        with self.line:
            work(self)

    def hear(self, kind):
        while True:
            data = self.line.recv(65536)
            if not data:
                return None
            for frame in self.decoder.feed(data):
                if frame.kind == kind:
                    return frame

    def say(self, call, kind, payload=b"", stream=1):
        for piece in encode(call, kind, payload):
            self.line.sendall(struct.pack("!BxxxI", stream, len(piece)) + piece)

    def shout(self, text):
        self.line.sendall(struct.pack("!BxxxI", 2, len(text)) + text)


def play(work, scene, listener=None):
    async def whole():
        server = Server(work)
        connection = Connection(server.attachment, Heart())
        try:
            with anyio.fail_after(10):
                await connection.greet(b"{}", listener)
                return await scene(connection)
        finally:
            connection.close()
            server.thread.join(5)

    return anyio.run(whole)


async def one_call(connection):
    call = connection.calls.send({"kind": "exec"})
    await call.done.wait()
    return call.outcome()


async def nothing(_connection):
    return None


def greeting(server):
    server.hear(HELLO)
    server.say(0, READY, READY_STDIO)


def test_call_is_answered_over_the_lifeline():
    """A remote box needs no more than its standard streams."""

    def work(server):
        greeting(server)
        request = server.hear(REQUEST)
        server.say(request.call, RESULT, ANSWER)
        server.hear(REQUEST)

    assert play(work, one_call).data["head"] == "hi\n"


def test_end_is_told_with_the_last_words():
    """Why a server ended is on its standard error; it is shown, and shown harmless."""

    def work(server):
        greeting(server)
        server.hear(REQUEST)
        server.shout(b"out of \x1b[31mluck\n")

    with pytest.raises(BoxError, match=r"it ended: out of .*luck") as caught:
        play(work, one_call)

    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "lie",
    [
        lambda server, call: server.say(call, RESULT, b"[]"),
        lambda server, call: server.say(call + 1, RESULT, ANSWER),
        lambda server, call: server.say(call, 7, b"unasked output"),
        lambda server, call: server.say(call, HELLO, b""),
        lambda server, _: server.say(0, READY, READY_STDIO),
        lambda server, _: server.say(0, TOKEN, b"x"),
        lambda server, _: server.line.sendall(b"\x01\0\0\0\xff\xff\xff\xff" + b"\xff" * 5000),
        lambda server, _: server.line.sendall(b"\x09" * 64),
    ],
    ids=["shape", "number", "output", "hello", "ready", "token", "length", "stream"],
)
def test_lying_server_ends_the_box_and_not_the_host(lie):
    """Every breach ends as BoxError of the open call, and the box is let go."""

    def work(server):
        greeting(server)
        request = server.hear(REQUEST)
        lie(server, request.call)
        assert server.hear(PONG) is None

    with pytest.raises(BoxError):
        play(work, one_call)


def test_server_that_ends_before_it_is_ready_is_told():
    """An image without a tool server ends so."""

    def work(server):
        server.hear(HELLO)
        server.shout(b"python3: can't open file")

    with pytest.raises(BoxError, match="can't open file"):
        play(work, nothing)


@pytest.fixture
def directory(runtime_directory):
    directory = SocketDirectory(runtime_directory)
    yield directory
    directory.close()


def call_with(directory, *tokens):
    """Let a server call once for each token; return the answer it gave on the last connection."""
    connections = []

    def work(server):
        server.hear(HELLO)
        lines = [call(connections[0].token if token == "right" else token) for token in tokens]
        server.say(0, READY, READY_SOCKET)
        for frame in Decoder().feed(lines[-1].recv(65536)):
            lines[-1].sendall(b"".join(encode(frame.call, RESULT, ANSWER)))
        server.hear(PONG)
        for line in lines:
            line.close()

    def call(token):
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(directory.leaf / "glove"))
        line.sendall(b"".join(encode(0, TOKEN, token.encode())))
        return line

    async def whole():
        server = Server(work)
        connections.append(Connection(server.attachment, Heart()))
        try:
            await connections[0].greet(b"{}", directory.listener)
            return await one_call(connections[0])
        finally:
            connections[0].close()
            server.thread.join(5)

    return anyio.run(whole)


def test_caller_with_the_token_is_the_server(directory):
    """Calls then go over the socket."""
    assert call_with(directory, "right").data["head"] == "hi\n"


def test_caller_without_the_token_is_turned_away(directory):
    """Whoever else reaches the socket gets nothing, and the server is still heard."""
    assert call_with(directory, "wrong", "right").data["head"] == "hi\n"


def end_after_lost_lifeline(directory, *, server_ends):
    """Lose the lifeline as when the engine goes, end the box, and return what was shown of it."""
    over = threading.Event()

    def work(server):
        server.hear(HELLO)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(directory.leaf / "glove"))
            line.sendall(b"".join(encode(0, TOKEN, connections[0].token.encode())))
            server.say(0, READY, READY_SOCKET)
            server.line.shutdown(socket.SHUT_RDWR)
            while line.recv(65536):
                pass
            if not server_ends:
                over.wait(5)

    connections = []

    async def whole():
        server = Server(work)
        connection = Connection(server.attachment, Heart(), gone=lambda: True)
        connections.append(connection)
        try:
            await connection.greet(b"{}", directory.listener)
            with pytest.raises(BoxError, match="engine went away"):
                await one_call(connection)
            first = await connection.end(5.0 if server_ends else 0.1)
            return first, await connection.end(0.1)
        finally:
            over.set()
            connection.close()
            server.thread.join(5)

    return anyio.run(whole)


@pytest.mark.parametrize("server_ends", [True, False])
def test_box_is_ended_and_seen_to_be_without_its_engine(directory, server_ends):
    """By the socket that needs no engine; a server that stays is not taken for one that ended."""
    assert end_after_lost_lifeline(directory, server_ends=server_ends) == (server_ends,) * 2


def test_end_of_the_engine_is_told_as_that():
    """Whoever looks for a fault in the box would look in the wrong place."""

    async def whole():
        server = Server(greeting)
        connection = Connection(server.attachment, Heart(), gone=lambda: True)
        try:
            await connection.greet(b"{}", None)
            server.thread.join(5)
            return await one_call(connection)
        finally:
            connection.close()

    with pytest.raises(BoxError, match="engine went away") as caught:
        anyio.run(whole)

    assert "--continue" in caught.value.hint
