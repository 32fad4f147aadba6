"""Markdown that is a session's and nothing else."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from orchestrator.schema.codec import encode_message
from orchestrator.sessions.export_markdown import markdown
from orchestrator.sessions.sharing import Shared

from .conftest import HEADER, assistant, entry, result, tool, user


def text_of(*bodies, **options) -> str:
    entries = [
        entry(f"e{at}", f"e{at - 1}" if at else None, body=body) for at, body in enumerate(bodies)
    ]
    return markdown(Shared(HEADER, tuple(entries)), **options)


def test_each_speaker_has_a_heading() -> None:
    """Calls and results stand in blocks."""
    call = encode_message(assistant("I look", "c"))
    call["content"][1]["arguments"] = '{"command": "ls -l"}'
    text = text_of(encode_message(user("mend it")), call, encode_message(tool(result("c", "a b"))))

    assert text.startswith("# Session 0123456789ab\n")
    assert "### User · e0\n\nmend it\n" in text
    assert "Calls `bash`:\n\n```\nls -l\n```\n" in text
    assert "### Results · e2\n\n`bash`:\n\n```\na b\n```\n" in text


def test_no_block_is_left_by_what_stands_in_it() -> None:
    """The fence is longer than any run in the text."""
    text = text_of(encode_message(tool(result("c", "```\n````\n# Session of mine"))))

    assert "`````\n```\n````\n# Session of mine\n`````" in text


def test_rendered_it_fetches_and_runs_nothing() -> None:
    """HTML, pictures and headings of a text are text; code keeps its signs."""
    said = "<script>x</script> ![a](https://evil.example/?q)\n# You\n```\n<b>\n```\nend\n---"
    text = text_of(encode_message(user(said)))

    assert r"\<script>x\</script> \![a](" in text
    assert "\n\\# You\n" in text
    assert "```\n<b>\n```" in text
    assert text.rstrip().endswith("\\---")


def test_controls_are_shown_as_what_they_are() -> None:
    """It may be read in a terminal."""
    assert "\\x1b[2J \\u202e" in text_of(encode_message(user("\x1b[2J \u202e")))


def test_branches_follow_unless_only_one_is_asked_for() -> None:
    """Each names the entry that it goes on from."""
    entries = (entry("a", None), entry("b", "a"), entry("c", "a"))
    shared = Shared(HEADER, entries)

    assert "## Branch 2\n\nFrom entry a.\n\n### User · b" in markdown(shared)
    assert "Branch" not in markdown(shared, only_current=True)


@pytest.mark.parametrize(
    "said",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x]( \tjavascript:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](<javascript:alert(1)>)",
        "[x](data:text/html;base64,PHN2Zz4=)",
        "[x](vbscript:x) [y](file:///etc/passwd)",
        "[[x]](javascript:alert(1))",
        "[x\\](javascript:alert(1))",
        "[x\\\\](javascript:alert(1))",
        "[x\\\\\\](javascript:alert(1))",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "[x]\n\n> [x]: javascript:alert(1)",
        "[x]\n\n- [x]:\n  javascript:alert(1)",
        "[x]\n\n[x]: <javascript:alert(1)>",
        "<javascript:alert(1)>",
        "\\<javascript:alert(1)>",
        "\\\\<img src=x onerror=alert(1)>",
        "![x](javascript:alert(1))",
        "\\![x](https://evil.example/pixel)",
        "\\\\![x](https://evil.example/pixel)",
        "[![x](https://evil.example/pixel)](javascript:alert(1))",
        "`a` [x](javascript:alert(1)) `b`",
    ],
)
@pytest.mark.parametrize("place", ["{}", "a\n\n{}", "- {}", "> {}", "| {} |\n|---|\n"])
def test_rendered_no_link_leads_elsewhere_than_to_a_page(said: str, place: str) -> None:
    """By a renderer that would take any address; no picture, and no element of the text's own."""
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    renderer.validateLink = lambda _: True  # type: ignore[method-assign]
    page = renderer.render(text_of(encode_message(user(place.format(said)))))

    assert re.findall(r'href="(?!https?://)[^"]*"', page) == []
    assert set(re.findall(r"<(\w+)", page)) <= {
        "h1",
        "h3",
        "p",
        "a",
        "ul",
        "li",
        "blockquote",
        "code",
        "em",
        "strong",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }


def test_links_to_pages_stay() -> None:
    """They do nothing by themselves."""
    said = "[x](https://docs.example/a) and [y]\n\n[y]: http://docs.example/b"
    renderer = MarkdownIt("commonmark")

    page = renderer.render(text_of(encode_message(user(said))))

    assert re.findall(r'href="([^"]*)"', page) == [
        "https://docs.example/a",
        "http://docs.example/b",
    ]


def test_label_is_no_link_either() -> None:
    """A name is a text of somebody's."""
    labelled = entry("b", "a", type="label", body={"target": "a", "label": "[x](javascript:1)"})

    assert r"[[x\](javascript:1)]" in markdown(Shared(HEADER, (entry("a", None), labelled)))
