"""A wrapped program's bytes: as they are, counted, or told."""

import hashlib

import anyio

from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.pieces import piece_of
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.schema.event import ProgramOutput

SECRET = "correct-horse-battery-staple"


def piped(stream, events=None):
    output = OutputFilter(Redactor({"key-1": SECRET}))
    observe = [].append if events is None else events.append
    return Pipes(stream, call="wrap-1", observe=observe, output=output)


def test_bytes_pass_as_they_are_and_are_counted():
    """Each source by itself, secrets too: they go to the person's own streams."""

    async def work():
        stream = ScriptedStream(
            piece_of("stdout", b"a\0" + SECRET.encode()) + piece_of("stderr", b"\xff")
        )
        pipes = piped(stream)
        await pipes.send(b"in", last=True)
        said = []
        while found := await pipes.receive():
            said += found
        return said, pipes.body()

    said, body = anyio.run(work)

    assert said == [("stdout", b"a\0" + SECRET.encode()), ("stderr", b"\xff")]
    assert body["stdin"] == {"bytes": 2, "digest": f"sha256:{hashlib.sha256(b'in').hexdigest()}"}
    assert body["stdout"]["bytes"] == 2 + len(SECRET)
    assert set(body) == {"stdin", "stdout", "stderr"}


def test_what_is_told_is_redacted_and_whole():
    """Characters and secrets may be cut anywhere."""
    events = []
    pipes = piped(ScriptedStream(), events)
    whole = f"grüße {SECRET}!\n".encode()
    for at in range(len(whole)):
        pipes.tell("stdout", whole[at : at + 1])
    pipes.tell("stderr", b"\xc3")
    pipes.flush()

    texts = {"stdout": "", "stderr": ""}
    for event in events:
        assert isinstance(event, ProgramOutput)
        texts[event.source] += event.text
    assert texts["stdout"].startswith("grüße ")
    assert SECRET not in texts["stdout"]
    assert texts["stderr"] == "\ufffd"
