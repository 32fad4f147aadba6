"""Takes the host's keys out of an event stream where a key is spelled over several events.

The strings of events are joined as a client joins them. An event waits only while the joined text
ends in what may be the beginning of a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from orchestrator.egress.endpoint.echo import Echoes
from orchestrator.egress.endpoint.event_strings import OTHER_LINE, Path, Piece, strings_in
from orchestrator.redaction.span import merge_spans

_END = re.compile(r"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_MAX_EVENT = 1 << 20
"""Characters of one event; a longer one passes as it comes."""
_MAX_HELD = 256 << 10
"""Characters that wait at one time."""
_MIN_OPEN = 4
"""Fewer characters of a key tell nothing, and many words end in one of them."""
_REMEMBERED = 64
"""Characters of a joined text that are kept when they went on: a key's first ones may be escaped,
and its escapes cut."""
_MAX_TAILS = 1024
_MAX_STRINGS = 4096
"""Of one event; no piece of an answer has so many, and each costs a look."""


@dataclass(slots=True)
class _Event:
    text: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    gone: bool = False

    def said(self) -> str:
        pieces, at = [], 0
        for start, end, instead in sorted(self.edits):
            pieces += [self.text[at:start], instead]
            at = end
        return "".join([*pieces, self.text[at:]])


@dataclass(frozen=True, slots=True)
class _Part:
    event: _Event
    start: int
    end: int


@dataclass(slots=True)
class _Tail:
    """The end of a joined text."""

    text: str = ""
    parts: list[_Part] = field(default_factory=list)
    open_: list[_Part] = field(default_factory=list)
    """What may be the beginning of a key."""

    def add(self, event: _Event, piece: Piece) -> None:
        self.text += event.text[piece.start : piece.end]
        self.parts.append(_Part(event, piece.start, piece.end))

    def cut(self, start: int, end: int) -> list[_Part]:
        """Return where a range of the text stands in events."""
        found, at = [], 0
        for part in self.parts:
            first, last = max(start - at, 0), min(end - at, part.end - part.start)
            if first < last:
                found.append(_Part(part.event, part.start + first, part.start + last))
            at += part.end - part.start
        return found


class EventScrub:
    """A stream of events in which the placeholder stands for every value spelled over several."""

    def __init__(self, echoes: Echoes) -> None:
        """One object a stream; it takes what ``EchoScrub`` has let pass."""
        self._known = echoes.known
        self._placeholder = echoes.placeholder
        self._begun = ""
        self._seen = 0
        """How much of what has begun holds no event's end."""
        self._skipping = False
        self._waiting: list[_Event] = []
        self._old = 0
        self._tails: dict[Path, _Tail] = {}

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what need not wait."""
        if not self._known.longest:
            return data
        self._begun += data.decode("latin-1")
        at = 0
        while end := _END.search(self._begun, max(at, self._seen - 3)):
            self._take(self._begun[at : end.end()])
            at = self._seen = end.end()
        self._begun = self._begun[at:]
        self._seen = len(self._begun)
        return self._pass(self._free() + self._early())

    def tick(self) -> bytes:
        """Return what waited at the last tick already, and what waited for that only."""
        late = self._let_go(self._old)
        late += self._free()
        self._old = len(self._waiting)
        return self._pass(late)

    def flush(self) -> bytes:
        """Return the rest."""
        text, self._begun = self._begun, ""
        if text:
            self._take(text)
        return self._pass(self._let_go(len(self._waiting)))

    def _take(self, text: str) -> None:
        event = _Event(text)
        self._waiting.append(event)
        if not self._skipping:
            for piece in strings_in(text)[:_MAX_STRINGS]:
                self._join(event, piece)
        self._skipping = False

    def _join(self, event: _Event, piece: Piece) -> None:
        tail = self._tails.pop(piece.path, None) or _Tail()
        tail.add(event, piece)
        spans = merge_spans(self._known.find(tail.text))
        for span in spans:
            self._blot(tail.cut(span.start, span.end))
        size = len(tail.text)
        done = max([0, *(span.end for span in spans)])
        safe = max(self._known.open_tail(tail.text), done)
        open_ = tail.cut(safe, size) if size - safe >= _MIN_OPEN else []
        kept = max(min(safe, size - _REMEMBERED), done)
        if len(self._tails) >= _MAX_TAILS:
            del self._tails[next(iter(self._tails))]
        self._tails[piece.path] = _Tail(tail.text[kept:], tail.cut(kept, size), open_)

    def _blot(self, parts: list[_Part]) -> None:
        instead = self._placeholder
        for part in parts:
            if not part.event.gone:
                part.event.edits.append((part.start, part.end, instead))
                instead = ""

    def _free(self) -> str:
        """Let the events go that need not wait."""
        if not self._waiting:
            return ""
        open_ = {id(part.event) for tail in self._tails.values() for part in tail.open_}
        count = 0
        while count < len(self._waiting) and id(self._waiting[count]) not in open_:
            count += 1
        if sum(len(event.text) for event in self._waiting[count:]) > _MAX_HELD:
            count = len(self._waiting)
        return self._let_go(count)

    def _early(self) -> str:
        """Let lines go that are no data, before their event has ended; and an event too long."""
        at = 0
        if len(self._begun) > _MAX_EVENT:
            self._skipping = True
        if self._skipping:
            before, at = self._let_go(len(self._waiting)), max(len(self._begun) - 2, 0)
        else:
            before = ""
            while not self._waiting and (line := OTHER_LINE.match(self._begun, at)):
                at = line.end()
        early, self._begun = self._begun[:at], self._begun[at:]
        self._seen = len(self._begun)
        return before + early

    def _let_go(self, count: int) -> str:
        going, self._waiting = self._waiting[:count], self._waiting[count:]
        self._old = max(0, self._old - count)
        said = "".join(event.said() for event in going)
        for event in going:
            # Joined texts still point to it.
            event.gone, event.text = True, ""
        return said

    def _pass(self, text: str) -> bytes:
        return text.encode("latin-1")
