"""The pool's side of its door: hears a question, gives one answer."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from orchestrator.harness.pool.channel import answer, is_ours
from orchestrator.harness.pool.offer import Offer
from orchestrator.harness.pool.order import Order
from orchestrator.harness.pool.warm_pool import WarmPool
from orchestrator.schema.ids import Digest

QUESTION_S = 2.0
MAX_QUESTION = 4096


@dataclass(slots=True)
class Desk:
    """Answers what is asked at the door."""

    name: str
    order: Order
    pool: WarmPool
    scope: anyio.CancelScope
    began: float

    async def serve(self, listener: socket.socket) -> None:
        """Answer one after another, each in a moment."""
        while True:
            await anyio.wait_readable(listener)
            try:
                peer, _ = listener.accept()
            except BlockingIOError:
                continue
            with peer:
                peer.setblocking(False)
                if is_ours(peer):
                    with anyio.move_on_after(QUESTION_S):
                        await self._answer(peer)

    async def _answer(self, peer: socket.socket) -> None:
        await anyio.wait_readable(peer)
        reply: Offer | Mapping[str, Any] = {"none": "the question was not understood"}
        try:
            question = json.loads(peer.recv(MAX_QUESTION))
            reply = await self._reply(question["do"], question)
            answer(peer, reply)
        except (OSError, ValueError, KeyError, TypeError):
            # Whoever asked has gone, or asked something else.
            return
        finally:
            if isinstance(reply, Offer):
                # Passed on, or nobody is there to have it: then the box ends by this.
                reply.close()

    async def _reply(self, do: str, question: Mapping[str, Any]) -> Offer | Mapping[str, Any]:
        if do == "take":
            got = await self.pool.take(Digest(str(question["key"])))
            return {"none": got} if isinstance(got, str) else got
        if do == "stop":
            self.scope.cancel()
            return {"stopping": True}
        return self.status()

    def status(self) -> dict[str, Any]:
        """Return what a person wants to know of the pool."""
        idle = time.monotonic() - self.pool.last_asked
        return {
            "pool": self.name,
            "pid": os.getpid(),
            "directory": str(self.order.options.directory),
            "size": self.pool.size,
            "ready": list(self.pool.ready),
            "taken": self.pool.taken,
            "trouble": self.pool.trouble,
            "up_s": round(time.monotonic() - self.began, 1),
            "ends_in_s": round(max(0.0, self.order.idle_s - idle), 1),
        }
