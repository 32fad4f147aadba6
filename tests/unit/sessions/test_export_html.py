"""The page: readable without a script, all branches in it, nothing hostile alive."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Image, Text, UserMessage
from orchestrator.sessions.export_html import POLICY, html_page
from orchestrator.sessions.sharing import Shared
from tests.support.pages import Page, rendered

from .conftest import HEADER, assistant, entry, result, tool, user

ALLOWED = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "h2",
        "h3",
        "p",
        "small",
        "nav",
        "details",
        "summary",
        "ul",
        "li",
        "a",
        "main",
        "section",
        "article",
        "span",
        "div",
        "pre",
        "code",
        "b",
        "label",
        "img",
    ]
)
ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "open",
        "alt",
        "src",
    ]
)
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
EVIL = (
    "</pre></div></article><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><iframe src='https://evil.example'></iframe>"
    '<style>*{display:none}</style><svg onload=alert(1)>"\'><a href="javascript:alert(1)">x</a>'
    "<!-- --!> ]]> &lt;script&gt; \u202egnp.exe\x00\x1b[2J"
)


def evil_session() -> Shared:
    """Hostile text in every field that a page shows."""
    call = {"type": "tool_call", "id": EVIL, "name": EVIL, "arguments": f'{{"{"k"}": 1'}
    parsed = {
        **call,
        "arguments": '{"<b>": "</pre><script>x</script>", "edits": [{"oldText": "<i>"}]}',
    }
    thought = {"type": "thinking", "text": EVIL, "provider": "p"}
    answer = {"role": "assistant", "content": [thought, call, parsed], "stop_reason": EVIL}
    image = {"type": "image", "media_type": f"image/png{EVIL}", "data": f"AAAA{EVIL}"}
    output = {"call": EVIL, "name": EVIL, "output": EVIL, "is_error": True, "images": [image]}
    ids = [f'"><script>{number}</script>' for number in range(8)]
    bodies = [
        ("message", encode_message(user(EVIL))),
        ("message", {**answer, "usage": {}, "model": EVIL}),
        ("message", {"role": "tool", "results": [output]}),
        ("compaction", {"summary": f"```\n{EVIL}\n```", "first_kept": None}),
        ("label", {"target": ids[0], "label": EVIL}),
        ("custom", {"kind": "title", "title": EVIL, EVIL: [EVIL]}),
        ("message", encode_message(user(EVIL))),
    ]
    entries = [
        entry(ids[at], ids[at - 1] if 0 < at < 6 else None, type=kind, body=body, time=EVIL)
        for at, (kind, body) in enumerate(bodies)
    ]
    header = type(HEADER)(EVIL, EVIL, EVIL, forked_from=EVIL)  # type: ignore[arg-type]
    return Shared(header, tuple(entries))


def branched() -> Shared:
    """Two questions, the first of which was asked in another way too; one answer is long."""
    long = "\n".join(f"line {number}" for number in range(400))
    entries = [
        entry("q", None, body=encode_message(user("mend the `parser`"))),
        entry("a", "q", body=encode_message(assistant("I look", "c"))),
        entry("r", "a", body=encode_message(tool(result("c", long)))),
        entry("old", "r", body=encode_message(user("left this way"))),
        entry("oldA", "old", body=encode_message(assistant("an answer that was left"))),
        entry("m", "oldA", type="leaf", body={"target": "r"}),
        entry("new", "r", body=encode_message(user("another way"))),
        entry("l", "new", type="label", body={"target": "a", "label": "look here"}),
    ]
    return Shared(HEADER, tuple(entries))


@cache
def page_of(build: Callable[[], Shared]) -> Page:
    return Page.of(html_page(build()))


@pytest.mark.parametrize("build", [evil_session, branched])
def test_only_our_own_elements_are_in_it(build) -> None:
    """Whatever a session holds is text: no script, no frame, no handler, no address elsewhere."""
    page = page_of(build)

    assert {name for name, _ in page.elements} <= ALLOWED
    assert {name for _, given in page.elements for name in given} <= ATTRIBUTES
    assert page.unbalanced == []
    assert all(link.startswith("#") for link in page.values("href"))
    assert all(source.startswith("data:image/") for source in page.values("src"))


def test_hostile_text_is_still_told() -> None:
    """Escaped is not left out: a reader sees what was tried."""
    page = page_of(evil_session)

    assert page.text.count("</pre></div></article><script>document.title='owned'</script>") >= 6
    assert "U+202Egnp.exeU+0000U+001B[2J" in page.text
    assert "a picture that cannot be shown" in page.text


def test_page_forbids_all_that_acts_before_anything_else() -> None:
    """The policy stands before the first thing that it could forbid."""
    page = page_of(branched)
    names = [name for name, _ in page.elements]

    assert page.elements[3][1] == {"http-equiv": "Content-Security-Policy", "content": POLICY}
    assert names[:4] == ["html", "head", "meta", "meta"]
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("build", [evil_session, branched])
def test_every_link_leads_somewhere(build) -> None:
    """Anchors are unique, and links without their place would be dead."""
    page = page_of(build)
    anchors = page.values("id")

    assert len(anchors) == len(set(anchors))
    assert {link[1:] for link in page.values("href")} <= set(anchors)


def test_all_branches_are_there_and_lead_to_each_other() -> None:
    """From where the ways part to each branch, and back."""
    source = html_page(branched())
    page = Page.of(source)

    assert [given["id"] for given in page.all("section")] == ["b1", "b2"]
    assert "Other ways from here: branch 2: left this way" in page.text
    assert '<a href="#e3">This branch goes on from here</a>' in source
    assert source.index("another way") < source.index("an answer that was left")
    assert '<span class="name">look here</span>' in source
    assert "left this way" not in html_page(branched(), only_current=True)


def test_long_results_are_folded_and_whole() -> None:
    """A page without a script folds by the element that is made for it."""
    page = page_of(branched)

    folded = [given for given in page.all("details") if "open" not in given]
    assert len(folded) == 1
    assert "line 0\n" in page.text
    assert "line 399" in page.text


def test_pictures_thoughts_and_edits_are_shown() -> None:
    """A picture is in the page itself; what an edit takes and brings is told apart."""
    edit = '{"path": "a.py", "edits": [{"oldText": "one\\n", "newText": "two\\n"}]}'
    answer = encode_message(assistant("x"))
    answer["content"] = [
        {"type": "thinking", "text": "hm", "provider": "p"},
        {"type": "tool_call", "id": "c", "name": "edit", "arguments": edit},
    ]
    seen = UserMessage((Image("image/png", DOT), Text("look")))
    shared = Shared(
        HEADER,
        (entry("u", None, body=encode_message(seen)), entry("a", "u", body=answer)),
    )
    source = html_page(shared)

    assert f'src="data:image/png;base64,{DOT}"' in source
    assert '<pre class="del">one\n</pre>' in source
    assert '<pre class="ins">two\n</pre>' in source
    assert "<summary>Thinking</summary>" in source


def test_empty_session_is_a_page() -> None:
    """Nothing was said, and that is no error."""
    page = Page.of(html_page(Shared(HEADER, ())))

    assert "0 turns" in page.text
    assert page.unbalanced == []


def test_browser_runs_nothing_of_a_hostile_session(tmp_path: Path) -> None:
    """In a real browser: the title is ours, and no element was made by the text."""
    path = tmp_path / "page.html"
    path.write_text(html_page(evil_session()), "utf-8", "surrogatepass")
    source = rendered(path)
    page = Page.of(source)

    assert "<title>owned</title>" not in source
    assert "<title>&lt;/pre&gt;" in source
    assert {name for name, _ in page.elements} <= ALLOWED
    assert page.all("section")


def test_browser_refuses_what_escaping_would_have_missed(tmp_path: Path) -> None:
    """The page's policy stops a script, a handler and a style that are really in it."""
    hole = (
        "<script>document.body.setAttribute('data-owned','script')</script>"
        "<img src=x onerror=\"document.body.setAttribute('data-owned','handler')\">"
        "<style>main{display:none}</style>"
        "<form action='https://evil.example' id=f><input name=a></form>"
    )
    safe = html_page(branched())
    probe = "<script>document.body.setAttribute('data-ran','yes')</script>"
    closed, opened = tmp_path / "closed.html", tmp_path / "opened.html"
    closed.write_text(safe.replace("<main>", f"{hole}{probe}<main>"))
    opened.write_text(safe.replace(POLICY, "").replace("<main>", f"{probe}<main>"))

    assert 'data-ran="yes"' in rendered(opened), "the probe works where no policy stands"
    found = rendered(closed)
    assert "<iframe" not in found
    assert 'data-ran="' not in found
    assert 'data-owned="' not in found
