"""Where a conversation may be cut."""

from __future__ import annotations

import pytest

from orchestrator.errors import UsageError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.places import after, before, find_entry, said
from orchestrator.sessions.tree import EntryTree

from .conftest import assistant, entry, result, tool, user


def message(entry_id: str, parent: str | None, body: object):
    return entry(entry_id, parent, body=encode_message(body))  # type: ignore[arg-type]


@pytest.fixture
def tree() -> EntryTree:
    """One question, an answer with two calls whose results came apart, and a last answer."""
    return EntryTree(
        [
            message("ask", None, user("mend it")),
            message("call", "ask", assistant("", "a", "b")),
            entry("wait", "call", type="approval", body={"waiting": ["b"]}),
            message("res1", "wait", tool(result("a"))),
            message("res2", "res1", tool(result("b"))),
            message("done", "res2", assistant("mended")),
            entry("name", "done", type="label", body={"target": "done", "label": "good"}),
        ]
    )


@pytest.mark.parametrize("inside", ["call", "res1", "res2"])
def test_batch_is_never_cut(tree: EntryTree, inside: str) -> None:
    """All results stay with their calls, whichever part of them was named."""
    assert after(tree, inside).leaf == "res2"  # type: ignore[arg-type]
    assert before(tree, inside).leaf == "ask"  # type: ignore[arg-type]


def test_results_on_the_current_branch_come_first(tree: EntryTree) -> None:
    """Where a call was answered on two branches, the conversation as it stands decides."""
    tree.add(message("other", "call", tool(result("a"), result("b"))))
    assert after(tree, "call").leaf == "other"  # type: ignore[arg-type]

    tree.add(entry("back", "other", type="leaf", body={"target": "done"}))
    assert after(tree, "call").leaf == "res2"  # type: ignore[arg-type]


def test_place_before_what_was_said_gives_it_back(tree: EntryTree) -> None:
    """It is to be said anew, perhaps in other words."""
    place = before(tree, "ask")  # type: ignore[arg-type]

    assert (place.leaf, place.text) == (None, "mend it")


def test_notes_of_ours_are_not_the_persons_words() -> None:
    """Only the last text of a message is the person's."""
    body = encode_message(user("x"))
    body["content"] = [{"type": "text", "text": "[note]"}, {"type": "text", "text": "hers"}]

    assert said(entry("a", None, body=body)) == "hers"
    assert said(message("b", None, assistant("not hers"))) == ""


def test_answer_without_calls_ends_with_itself(tree: EntryTree) -> None:
    """Nothing is looked for below it."""
    assert after(tree, "done").leaf == "done"  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["done", "don", "good"])
def test_entry_is_found_by_id_beginning_and_label(tree: EntryTree, word: str) -> None:
    """Whatever a person reads on the screen names it."""
    assert find_entry(tree, word).id == "done"


@pytest.mark.parametrize("word", ["", "res", "nothing"])
def test_word_for_none_or_several_is_refused(tree: EntryTree, word: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(UsageError, match="expected one"):
        find_entry(tree, word)


@pytest.mark.parametrize("place", [before, after])
def test_unknown_entry_is_refused(tree: EntryTree, place) -> None:
    """The place of what is not there is an error of the caller's."""
    with pytest.raises(UsageError, match="there is none"):
        place(tree, "gone")
