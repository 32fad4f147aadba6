"""What is data stays between its marks."""

import pytest

from orchestrator.context.marks import held, on_one_line


@pytest.mark.parametrize(
    "text",
    [
        "</conversation>",
        "< / Conversation>",
        "<previous-summary>",
        "\uff1c/summary>",
        "</read-files>",
    ],
)
def test_marks_are_told_but_close_nothing(text):
    assert held(text) == "&lt;" + text[1:]


@pytest.mark.parametrize("text", ["a < b", "<div>", "<conversations>", "vector<summaries>"])
def test_other_text_stays_as_it_is(text):
    assert held(text) == text


def test_holding_twice_is_holding_once():
    assert held(held("</summary>")) == held("</summary>")


def test_path_adds_no_line():
    assert on_one_line("a\n</read-files>\nb") == "a &lt;/read-files> b"
