"""The tool that reads a file or a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from orchestrator.schema.message import Image, ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ReadRequest, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext

MAX_LINES = 2000
"""Lines of one window."""
MAX_BYTES = ReadRequest("/").max_bytes
"""Bytes of one window; where the conversation has no room for so much, fewer are asked for."""
NARROWED = (
    "[fewer lines than usual, as little room is left in the conversation and the file has {size} "
    "bytes: search it with grep, or read just the lines you need]"
)


class ReadArguments(Arguments):
    """Fields of ``read``."""

    path: NonEmpty
    offset: int = Field(default=1, ge=1, le=10**9, description="first line, from 1")
    limit: int = Field(default=MAX_LINES, ge=1, le=10**9, description="lines")


class CutLine(Answer):
    """A line of which only the beginning is shown."""

    line: int
    shown: int
    bytes: int


class TextAnswer(Answer):
    """A window of lines."""

    type: Literal["text"]
    text: str
    start: int
    lines: int
    total_lines: int | None
    total_bytes: int
    next_offset: int | None
    cut_lines: tuple[CutLine, ...] = ()


class ImageAnswer(Answer):
    """A picture."""

    type: Literal["image"]
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str = Field(max_length=4_000_000, pattern=r"^[A-Za-z0-9+/]+={0,2}$")
    width: int
    height: int
    original_width: int
    original_height: int


class BinaryAnswer(Answer):
    """Content that is neither text nor a picture."""

    type: Literal["binary"]
    bytes: int
    note: str = ""


class EmptyAnswer(Answer):
    """A file of no bytes."""

    type: Literal["empty"]


class ReadAnswer(Answer):
    """Any of the four."""

    content: Annotated[
        TextAnswer | ImageAnswer | BinaryAnswer | EmptyAnswer, Field(discriminator="type")
    ]


class ReadTool:
    """Reads one file."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "read",
            "Read a text file or an image. Gives up to 2000 lines or 50 KB and names the offset "
            "to go on from.",
            input_schema(ReadArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the window to read."""
        fields = parse_arguments(ReadArguments, "read", arguments)
        path = locate(fields.path, context)
        return ReadRequest(path, offset=fields.offset, limit=min(fields.limit, MAX_LINES))

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return the lines with a notice of what is missing, or the picture."""
        wrapped = outcome if outcome.error else Outcome({"content": dict(outcome.data)})
        narrowed = isinstance(request, ReadRequest) and request.max_bytes < MAX_BYTES
        return render_answer(wrapped, ReadAnswer, lambda a: _render(a.content, narrowed=narrowed))


def _render(
    content: TextAnswer | ImageAnswer | BinaryAnswer | EmptyAnswer, *, narrowed: bool
) -> Rendered:
    match content:
        case TextAnswer():
            return _render_text(content, narrowed=narrowed)
        case ImageAnswer():
            return _render_image(content)
        case BinaryAnswer():
            note = f", {content.note}" if content.note else ""
            shown = plain_content(f"(binary file, {content.bytes} bytes{note}; not shown)")
            return Rendered(shown, {"type": "binary", "bytes": content.bytes})
        case EmptyAnswer():
            return Rendered("(the file is empty)", {"type": "empty"})


def _render_text(content: TextAnswer, *, narrowed: bool) -> Rendered:
    lines = plain_content(content.text).split("\n")
    for cut in content.cut_lines:
        index = cut.line - content.start
        if 0 <= index < len(lines):
            lines[index] += (
                f" [line {cut.line} cut: {cut.shown} of {cut.bytes} bytes; the rest by "
                f"bash: sed -n {cut.line}p FILE | cut -b {cut.shown + 1}-]"
            )
    last = content.start + content.lines - 1
    total = "?" if content.total_lines is None else str(content.total_lines)
    if content.next_offset is not None:
        lines.append(
            f"[lines {content.start}-{last} of {total}; go on with offset={content.next_offset}]"
        )
        if narrowed:
            lines.append(NARROWED.format(size=content.total_bytes))
    details = {
        "type": "text",
        "start": content.start,
        "lines": content.lines,
        "total_lines": content.total_lines,
        "next_offset": content.next_offset,
    }
    return Rendered("\n".join(lines), details)


def _render_image(content: ImageAnswer) -> Rendered:
    shape = (content.width, content.height)
    original = (content.original_width, content.original_height)
    words = f"{content.media_type}, {shape[0]}x{shape[1]} pixels"
    if shape != original:
        words += f", scaled down from {original[0]}x{original[1]}"
    details = {"type": "image", "media_type": content.media_type, "size": shape}
    images = (Image(content.media_type, content.data),)
    return Rendered(f"({words})", details, images=images)
