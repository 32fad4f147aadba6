"""A conversation as plain text, for whoever summarises it; and which files it touched. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.context.marks import held, on_one_line
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from orchestrator.schema.middle import without_middle

MOST_OUTPUT = 2_000
"""Characters of one result that are shown; head and tail, since an error stands at the end."""
MOST_ARGUMENTS = 2_000
GAP = "[... {count} characters left out ...]"
MOST_FILES = 200
"""Of each list that a summary carries on."""

_READERS = frozenset({"read"})
_WRITERS = frozenset({"write", "edit"})


@dataclass(frozen=True, slots=True)
class Files:
    """Paths as the model gave them, oldest first; one that was modified is not among the read."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()

    @classmethod
    def of_body(cls, body: Mapping[str, Any]) -> Files:
        """Return the lists in a summary entry's body; damaged ones are empty."""
        lists = body.get("files")
        held = lists if isinstance(lists, Mapping) else {}
        return cls(_texts(held.get("read")), _texts(held.get("modified")))

    def with_calls(self, messages: Iterable[Message]) -> Files:
        """Return the lists with what calls of these messages touched."""
        read, modified = dict.fromkeys(self.read), dict.fromkeys(self.modified)
        for message in messages:
            if isinstance(message, AssistantMessage):
                for call in message.tool_calls:
                    path = (call.arguments or {}).get("path")
                    if isinstance(path, str) and path:
                        if call.name in _WRITERS:
                            modified[path] = None
                        elif call.name in _READERS:
                            read[path] = None
        only_read = [path for path in read if path not in modified]
        return Files(tuple(only_read[-MOST_FILES:]), tuple(list(modified)[-MOST_FILES:]))

    def text(self) -> str:
        """Return the lists as they stand behind a summary; empty where there are none."""
        blocks = (("read-files", self.read), ("modified-files", self.modified))
        return "".join(
            f"\n\n<{name}>\n" + "\n".join(map(on_one_line, paths)) + f"\n</{name}>"
            for name, paths in blocks
            if paths
        )


def dialogue(messages: Sequence[Message], *, results: bool = True) -> str:
    """Return the messages as text, roles named; thoughts are left out, long results are cut.

    Nothing in it looks like the marks around it.
    """
    lines = (line for message in messages for line in _lines(message, results=results))
    return held("\n\n".join(lines))


def _lines(message: Message, *, results: bool) -> Iterable[str]:
    if isinstance(message, UserMessage):
        yield f"[user]: {_shown(message.content)}"
    elif isinstance(message, AssistantMessage):
        if message.text.strip():
            yield f"[assistant]: {message.text}"
        for call in message.tool_calls:
            yield f"[call]: {_call(call)}"
    elif results:
        yield from _results(message)


def _results(message: ToolMessage) -> Iterable[str]:
    for result in message.results:
        mark = "error" if result.is_error else "result"
        pictures = f" [{len(result.images)} pictures]" if result.images else ""
        yield f"[{mark} of {result.name}]: {shortened(result.output, MOST_OUTPUT)}{pictures}"


def _call(call: ToolCall) -> str:
    return f"{call.name}({shortened(call.raw_arguments, MOST_ARGUMENTS)})"


def _shown(content: Sequence[Text | Image]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else "[a picture]" for part in content)


def shortened(text: str, most: int) -> str:
    """Return a text with its middle left out where it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    return without_middle(text, most, GAP)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
