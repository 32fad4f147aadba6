"""The conversation's tree: gone back in, named, copied, given away."""

import re
import stat

import pytest

from orchestrator.cli.chat.branches import tree_rows
from orchestrator.cli.chat.plain import PlainSurface
from orchestrator.sessions.view import SessionView

pytestmark = pytest.mark.docker


class FirstRow(PlainSurface):
    """Somebody who always takes the first row, and says the draft again."""

    async def choose(self, rows, at):
        self.note(f"at {rows[at].split()[0]} of {len(rows)}")
        return 0


class Chooser(PlainSurface):
    """Somebody who takes the first entry, and one of the answers to what becomes of the rest."""

    answer = 0

    async def choose(self, rows, at):
        assert at >= 0
        return 0 if "user:" in rows[0] else self.answer


class Summarised(Chooser):
    answer = 1


class AboutSomething(Chooser):
    answer = 2


class Nowhere(Chooser):
    answer = None


def session_files(chat):
    return sorted(chat.paths.sessions.rglob("*.jsonl"))


def test_entry_is_chosen_and_what_was_said_there_comes_back(chat):
    turns = ({"text": "one"}, {"text": "two"})
    _, answers, told = chat(*turns, said=["first", "/tree", "again"], surface=FirstRow)

    assert answers == ["one", "one"]
    assert "at > of 2" in told
    assert "to be said anew: first" in told


def test_named_entry_is_found_by_its_name(chat):
    """The name is in the tree; - takes it away, and one name is no two entries'."""
    turns = ({"text": "one"}, {"text": "two"})
    said = ["first", "/label good", "second", "/label good", "/tree good", "/tree", "/label good -"]
    _, answers, told = chat(*turns, said=[*said, "/tree", "again"])

    assert answers == ["one", "two", "two"]
    assert re.search(r"label 'good': entry \w+ has it already", told)
    assert len(re.findall(r"> \w{6} \[good\] assistant: one", told)) == 1
    assert "has no name any more" in told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/label", "/label: expected a name"),
        ("/label x", "/label: nothing was said yet"),
        ("/tree", "nothing was said yet"),
        ("/fork zzz", "entry 'zzz'"),
    ],
)
def test_what_cannot_be_done_is_said(chat, line, told):
    assert told in chat(said=[line])[2]


SUMMARY = "We found the bug in prices.py."


def summaries_kept(chat):
    [file] = session_files(chat)
    entries = SessionView.open(file).tree.entries
    return [entry.body for entry in entries if entry.type == "branch_summary"]


@pytest.mark.parametrize(
    ("surface", "said", "kept"),
    [
        (Chooser, "/tree", []),
        (Summarised, "/tree", [""]),
        (PlainSurface, "/tree begin summary", [""]),
        (PlainSurface, "/tree begin summary the bug in prices", ["the bug in prices"]),
        (PlainSurface, "/tree begin", []),
    ],
)
def test_what_is_left_behind_is_summarised_where_one_wants_it(chat, surface, said, kept):
    """And the model is told of it from there on."""
    turns = ({"text": "one"}, {"text": "two"}, {"text": "three"})
    _, answers, told = chat(
        *turns,
        said=["zero", "/label begin", "first", said, "again"],
        surface=surface,
        summaries=[SUMMARY] * 2,
    )

    assert "goes on from there" in told
    assert answers[0] == "one"
    assert ("what was left is summarised" in told) is bool(kept)
    assert [body["focus"] for body in summaries_kept(chat)] == kept
    assert all(SUMMARY in body["summary"] for body in summaries_kept(chat))


def test_focus_is_named_in_the_input_line(chat):
    _, _, told = chat({"text": "one"}, said=["first", "/tree"], surface=AboutSomething)

    assert re.search(r"to be said anew: /tree \w{12} summary ", told)
    assert "goes on from there" not in told


def test_choice_that_is_not_made_moves_nothing(chat):
    _, answers, told = chat(
        {"text": "one"}, {"text": "two"}, said=["first", "/tree", "on"], surface=Nowhere
    )

    assert answers == ["one", "two"]
    assert "goes on from there" not in told


def test_conversation_is_copied_into_another_session(chat):
    _, _, told = chat({"text": "one"}, said=["first", "/fork"])
    [made] = re.findall(r"glovebox chat --resume (\w+)", told)
    [copy] = [SessionView.open(path) for path in session_files(chat) if made in path.name]

    assert len(session_files(chat)) == 2
    assert [row.split(" ", 2)[2] for _, row in tree_rows(copy.tree)] == [
        "user: first",
        "assistant: one",
    ]


def test_session_is_written_for_others_without_secrets(chat, tmp_path):
    """The ending says in which form; a file that is there stays."""
    file = tmp_path / "out.md"
    secret = "ghp_" + "a1B2" * 9
    said = [f"my token is {secret}", f"/export {file}", f"/export {file}"]
    _, _, told = chat({"text": "one"}, said=said)

    assert "my token is" in file.read_text()
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "read it before you share it" in told
    assert "cannot be written" in told
