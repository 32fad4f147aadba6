"""Entries as pieces of a page."""

from __future__ import annotations

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.sessions.export_entry import OPEN_LINES, entry_html, kind, speaker

from .conftest import assistant, entry, result, tool


@pytest.mark.parametrize("quiet", ["label", "leaf", "approval"])
def test_what_is_not_said_takes_no_place(quiet: str) -> None:
    """Names stand at their entries, moves are in the branches."""
    assert entry_html(entry("a", None, type=quiet, body={"target": "x"})) == ""


def test_short_results_are_open_and_failed_ones_marked() -> None:
    """The eye finds what went wrong."""
    short = encode_message(tool(result("c", "x\n" * (OPEN_LINES - 1))))
    short["results"][0]["is_error"] = True
    long = encode_message(tool(result("c", "x\n" * OPEN_LINES)))

    assert '<details class="bad" open>' in entry_html(entry("a", None, body=short))
    assert "<details><summary>bash <small>16 lines" in entry_html(entry("a", None, body=long))


def test_answer_that_did_not_end_by_itself_says_so() -> None:
    """A cut or refused answer is no whole one."""
    body = {**encode_message(assistant("half")), "stop_reason": "max_tokens", "model": "a/b"}
    cut = entry("a", None, body=body)

    assert "stopped: max_tokens" in entry_html(cut)
    assert (speaker(cut), kind(cut)) == ("Model <small>a/b</small>", "assistant")


def test_other_entries_are_noted_without_what_is_empty() -> None:
    """A change of the model, say."""
    body = {"model": "x/y", "thinking": None, "reason": "user"}
    changed = entry("a", None, type="model_change", body=body)

    assert entry_html(changed) == '<p class="noted">model: x/y  reason: user</p>'
    assert (speaker(changed), kind(changed)) == ("model change", "note")
