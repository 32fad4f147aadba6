from __future__ import annotations

from typing import Any

from orchestrator.schema.message import Image
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ReadRequest
from orchestrator.tools.read import ReadTool
from orchestrator.tools.tool import Rendered, ToolContext


def render(**data: Any) -> Rendered:
    return ReadTool().render(ReadRequest("/workspace/a"), Outcome(data))


def text(content: str, **fields: Any) -> Rendered:
    window = {
        "type": "text",
        "text": content,
        "start": 1,
        "lines": content.count("\n") + 1,
        "total_lines": content.count("\n") + 1,
        "total_bytes": len(content),
        "next_offset": None,
        "cut_lines": [],
    }
    return render(**{**window, **fields})


def test_plan_asks_for_the_window(context: ToolContext) -> None:
    """Lines are bounded, whatever was asked."""
    tool = ReadTool()

    assert tool.plan({"path": "a"}, context) == ReadRequest("/workspace/a", 1, 2000)
    assert tool.plan({"path": "a", "offset": 5, "limit": 9999}, context) == ReadRequest(
        "/workspace/a", 5, 2000
    )


def test_whole_file_is_its_text_alone() -> None:
    """No notice where nothing is missing."""
    assert text("one\ntwo").output == "one\ntwo"


def test_window_names_what_is_shown_and_how_to_go_on() -> None:
    """The next call can be copied from the notice."""
    rendered = text("a\nb", start=11, lines=2, total_lines=90, next_offset=13)

    assert rendered.output == "a\nb\n[lines 11-12 of 90; go on with offset=13]"
    assert rendered.details["next_offset"] == 13


def test_window_that_was_narrowed_says_why() -> None:
    """Less room than usual is left in the conversation; a file that fits all the same says nothing."""
    data = {"type": "text", "text": "a", "start": 1, "lines": 1, "total_lines": 90}
    data |= {"total_bytes": 70_000, "next_offset": 2}
    request = ReadRequest("/workspace/a", max_bytes=3_125)

    shown = ReadTool().render(request, Outcome(data)).output
    whole = ReadTool().render(request, Outcome(data | {"next_offset": None})).output
    assert "little room is left in the conversation and the file has 70000 bytes" in shown
    assert whole == "a"


def test_unknown_total_is_no_number() -> None:
    """A file too large to be counted."""
    assert "of ?;" in text("a", total_lines=None, next_offset=2).output


def test_cut_line_says_how_to_see_the_rest() -> None:
    """The mark stands on the line itself."""
    cut = [{"line": 12, "shown": 4, "bytes": 900}]

    lines = text("a\nbbbb\nc", start=11, total_lines=13, cut_lines=cut).output.split("\n")

    assert lines[1].startswith("bbbb [line 12 cut: 4 of 900 bytes")
    assert "sed -n 12p FILE | cut -b 5-" in lines[1]
    assert lines[2] == "c"


def test_picture_goes_beside_the_words() -> None:
    """The model sees the picture, the words tell its scale."""
    rendered = render(
        type="image",
        media_type="image/png",
        data="AAAA",
        width=10,
        height=5,
        original_width=100,
        original_height=50,
    )

    assert rendered.images == (Image("image/png", "AAAA"),)
    assert rendered.output == "(image/png, 10x5 pixels, scaled down from 100x50)"


def test_picture_of_an_unknown_type_or_form_is_refused() -> None:
    """A provider would refuse it, and every turn after."""
    shape = {"width": 1, "height": 1, "original_width": 1, "original_height": 1}

    for fields in (
        {"media_type": "image/svg+xml", "data": "AAAA"},
        {"media_type": "image/png", "data": "not base64!"},
    ):
        rendered = render(type="image", **fields, **shape)
        assert rendered.is_error
        assert rendered.images == ()


def test_binary_and_empty_are_told_in_words() -> None:
    """Neither is an error, neither is silent."""
    assert render(type="binary", bytes=7).output == "(binary file, 7 bytes; not shown)"
    assert "damaged" in render(type="binary", bytes=7, note="a damaged image/png").output
    assert render(type="empty").output == "(the file is empty)"


def test_refusal_is_an_error() -> None:
    """The box's words reach the model."""
    outcome = Outcome(error="a: no such file", code="not_found")

    rendered = ReadTool().render(ReadRequest("/workspace/a"), outcome)

    assert (rendered.output, rendered.is_error) == ("a: no such file", True)
