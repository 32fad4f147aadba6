"""A wrapped program's input, output and errors: carried as they are, counted and digested."""

from __future__ import annotations

import codecs
import hashlib
from typing import Any, get_args

from orchestrator.dispatch.output import OutputFilter
from orchestrator.sandbox.driver import BoxStream
from orchestrator.sandbox.pieces import Pieces, Source
from orchestrator.schema.event import Observer, ProgramOutput


class Pipes:
    """The program's end of three pipes."""

    def __init__(
        self, stream: BoxStream, *, call: str, observe: Observer, output: OutputFilter
    ) -> None:
        """Carry what a ProgramTarget's stream brings; ``tell`` makes events of the ``call`` of it."""
        self._stream = stream
        self._tellers = {
            source: _Teller(call, source, observe=observe, output=output)
            for source in get_args(Source)
        }
        self._pieces = Pieces()
        self._passed = {name: hashlib.sha256() for name in ("stdin", "stdout", "stderr")}
        self._bytes = dict.fromkeys(self._passed, 0)

    async def receive(self) -> list[tuple[Source, bytes]]:
        """Return what the program said next, in order; nothing when no more will come."""
        while data := await self._stream.receive():
            if found := self._pieces.feed(data):
                for source, piece in found:
                    self._count(source, piece)
                return found
        return []

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Give the program input as it takes it, ``last`` to say that no more follows."""
        self._count("stdin", data)
        await self._stream.send(data, last=last)

    def tell(self, source: Source, data: bytes) -> None:
        """Make an event of what the program said, in place of passing it on."""
        self._tellers[source].feed(data)

    def flush(self) -> None:
        """Tell what was held back of it; nothing follows."""
        for teller in self._tellers.values():
            teller.flush()

    def body(self) -> dict[str, Any]:
        """Return what passed, as audit data: bytes and digest of each that carried any."""
        return {
            name: {"bytes": self._bytes[name], "digest": f"sha256:{digest.hexdigest()}"}
            for name, digest in self._passed.items()
            if self._bytes[name]
        }

    def _count(self, name: str, data: bytes) -> None:
        self._passed[name].update(data)
        self._bytes[name] += len(data)


class _Teller:
    def __init__(
        self, call: str, source: Source, *, observe: Observer, output: OutputFilter
    ) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = output.stream(lambda text: observe(ProgramOutput(call, source, text)))

    def feed(self, data: bytes) -> None:
        self._text.feed(self._decode(data))

    def flush(self) -> None:
        self._text.feed(self._decode(b"", final=True))
        self._text.flush()
