"""What a person says while the model works: told after the running calls, or when it would stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import QueueChange
from orchestrator.schema.message import Image, Text, UserMessage


class EmptyQueue:
    """Nobody says anything meanwhile."""

    def steering(self) -> tuple[UserMessage, ...]:
        """Take nothing."""
        return ()

    def follow_ups(self) -> tuple[UserMessage, ...]:
        """Take nothing."""
        return ()


@dataclass(slots=True)
class PersonQueue:
    """One session's; what was not told when the model stopped early stays in it."""

    observe: Observer
    scrub: Callable[[str], str]
    """Keeps secrets out of events; what is told is scrubbed where it is stored."""
    _steering: deque[UserMessage] = field(default_factory=deque)
    _follow_ups: deque[UserMessage] = field(default_factory=deque)

    def steer(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Have the model told as soon as the calls that run now are over."""
        self._steering.append(UserMessage((*images, Text(text))))
        self._tell()

    def follow_up(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Have the model told when it would stop; several are told one at a time."""
        self._follow_ups.append(UserMessage((*images, Text(text))))
        self._tell()

    def steering(self) -> tuple[UserMessage, ...]:
        """Take all that is to be told now."""
        taken = tuple(self._steering)
        self._steering.clear()
        if taken:
            self._tell()
        return taken

    def follow_ups(self) -> tuple[UserMessage, ...]:
        """Take the next thing to be told once the model would stop: each is a task of its own."""
        if not self._follow_ups:
            return ()
        taken = self._follow_ups.popleft()
        self._tell()
        return (taken,)

    def clear(self) -> tuple[str, ...]:
        """Take everything back, steering first; returns the texts, for the person to change."""
        taken = tuple(map(_text_of, (*self._steering, *self._follow_ups)))
        self._steering.clear()
        self._follow_ups.clear()
        if taken:
            self._tell()
        return taken

    def __bool__(self) -> bool:
        """Say whether anything waits."""
        return bool(self._steering or self._follow_ups)

    def _tell(self) -> None:
        waiting = (tuple(self.scrub(_text_of(one)) for one in kind) for kind in self._both)
        self.observe(QueueChange(*waiting))

    @property
    def _both(self) -> tuple[deque[UserMessage], deque[UserMessage]]:
        return self._steering, self._follow_ups


def _text_of(message: UserMessage) -> str:
    return "".join(part.text for part in message.content if isinstance(part, Text))
