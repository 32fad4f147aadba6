"""Finding what was said."""

from __future__ import annotations

import pytest

from orchestrator.errors import UsageError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.search import Query

from .conftest import assistant, entry, result, tool, user

ENTRIES = [
    entry("ask", None, body=encode_message(user("Mend the FLAKY test in parser.py"))),
    entry("call", "ask", body=encode_message(assistant("I look", "a"))),
    entry("out", "call", body=encode_message(tool(result("a", "x" * 500 + " flaky  \n\n again")))),
    entry("sum", "out", type="compaction", body={"summary": "The test was flaky."}),
    entry("lab", "sum", type="label", body={"target": "ask", "label": "begin"}),
    entry("pic", "lab", body={"role": "user", "content": [{"type": "image", "data": "flaky"}]}),
]


def found(query: str, **options) -> list[str]:
    return [hit.entry.id for hit in Query.of(query, **options).find(ENTRIES)]


def test_all_words_must_be_there_in_any_case_and_order() -> None:
    """The bytes of a picture are no words."""
    assert found("flaky") == ["ask", "out", "sum"]
    assert found("TEST flaky") == ["ask", "sum"]
    assert found("flaky nowhere") == []
    assert found("begin") == ["lab"]


def test_words_are_no_patterns_unless_asked() -> None:
    """A dot is a dot."""
    assert found("parser.py") == ["ask"]
    assert found("parserXpy") == []
    assert found(r"parser\.(py|js)", regex=True) == ["ask"]


@pytest.mark.parametrize(("role", "ids"), [("user", ["ask"]), ("tool", ["out"])])
def test_only_one_speaker_when_asked(role: str, ids: list[str]) -> None:
    """Who said it is often all that is remembered."""
    assert found("flaky", role=role) == ids


def test_excerpt_is_one_short_line_around_the_find() -> None:
    """Cut ends are marked."""
    (hit,) = Query.of("flaky", role="tool").find(ENTRIES)

    assert hit.excerpt.startswith("…xxx")
    assert hit.excerpt.endswith("flaky again")
    assert len(hit.excerpt) < 200


@pytest.mark.parametrize(("text", "regex"), [("", False), (" ", False), ("(", True)])
def test_query_that_is_none_is_refused(text: str, regex: bool) -> None:
    """Nothing would mean everything."""
    with pytest.raises(UsageError, match="search"):
        Query.of(text, regex=regex)
