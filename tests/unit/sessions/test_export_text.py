"""Untrusted text on a page."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sessions.export_text import pieces, plain, prose, safe


def test_nothing_in_a_text_is_markup() -> None:
    """Neither in content nor in a quoted attribute."""
    assert safe("<b>&amp;\"'") == "&lt;b&gt;&amp;amp;&quot;&#x27;"


def test_what_hides_or_reorders_is_named() -> None:
    """A reader sees that it is there; line feeds, tabs and emoji stay."""
    assert safe("a\u202eb\x1b\x00") == (
        'a<span class="u">U+202E</span>b<span class="u">U+001B</span><span class="u">U+0000</span>'
    )
    assert safe("\U000e0041\ufeff").count("span") == 4
    assert safe("a\r\n\tb \u2764\ufe0f") == "a\n\tb \u2764\ufe0f"
    assert plain("a\n\u202e<") == "a U+202E&lt;"


def test_fenced_blocks_and_code_stand_apart() -> None:
    """A fence inside a longer one is text; one that is never closed reaches to the end."""
    assert prose("say\n```\n<ls>\n```\nend `x<y`") == (
        '<div class="t">say</div><pre>&lt;ls&gt;</pre><div class="t">end <code>x&lt;y</code></div>'
    )
    assert pieces("````\n```\n````") == [("", False), ("```", True), ("", False)]
    assert pieces("~~~\nx")[1] == ("x", True)
    assert pieces("a\n``` sh x\nb") == [("a\nsh x", False), ("b", True)]


@given(st.text(alphabet="`~<>&\"'a \n\r\u202e\x1b", max_size=60))
def test_any_text_stays_text(text: str) -> None:
    """Only our own elements are in it, and nothing of the words is lost."""
    page = prose(text)

    assert re.sub(r"</?(div|pre|code|span)( class=\"[tu]\")?>", "", page).count("<") == 0
    words = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert words.count("a") == text.count("a")
    assert page.count("<div") + page.count("<pre") == page.count("</div") + page.count("</pre")
