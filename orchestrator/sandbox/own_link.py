"""A connection of its own for what leaves a box, so that its bytes delay no call.

The host makes a pair of sockets and passes one end to the box beside the bytes of a call: there is
no place at which a program could knock. Where the calls have no Unix socket, as on another machine
or under gVisor, there is none, and the bytes go after the calls on the one connection.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from orchestrator.errors import BoxError
from orchestrator.sandbox.calls import Call, Calls
from orchestrator.sandbox.frames import BOX_NUMBERS, Frame
from orchestrator.sandbox.link import Link
from orchestrator.schema.outcome import Outcome

Ask = Callable[[dict[str, Any]], Awaitable[Outcome]]
Wait = Callable[[Call], Awaitable[Outcome]]
_TRIES = 20
_RETRY_S = 0.01
"""While other messages are half sent."""


@asynccontextmanager
async def own_link(calls: Calls, *, ask: Ask, wait: Wait) -> AsyncIterator[bool]:
    """Give the box such a connection while the context is entered; yields whether it has one.

    ``ask`` sends a request and returns its outcome, ``wait`` waits for one that was sent.
    """
    expects = await ask({"kind": "expect_link"})
    if expects.data.get("taken") is not True:
        yield False
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with theirs:
            taken = await _passed(calls, theirs, wait)
        if not taken:
            yield False
            return
        ours.setblocking(False)
        link = Link(ours)

        def take(frame: Frame) -> None:
            if frame.call < BOX_NUMBERS:
                raise BoxError(f"box: frame for call {frame.call} beside the calls")
            calls.departures.take(frame, link.send)

        link.open(take, calls.on_breach)
        try:
            yield True
        finally:
            link.close()
    finally:
        ours.close()


async def _passed(calls: Calls, theirs: socket.socket, wait: Wait) -> bool:
    for _ in range(_TRIES):
        call = calls.pass_descriptor({"kind": "take_link"}, theirs.fileno())
        if call is not None:
            return (await wait(call)).data.get("taken") is True
        await anyio.sleep(_RETRY_S)
    return False
