"""Confirmers without a person."""

import os

import anyio
import pytest

from orchestrator.confirmation.answers import (
    MAX_BYTES,
    BlanketConfirmer,
    NobodyConfirmer,
    ScriptedConfirmer,
    load_answers,
)
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.errors import ConfigError
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest


def question(subject="git push", *, digest="sha256:1", **decision):
    made = Decision("ask", "risk:publishes", "session", "publishes", **decision)
    return Question("ask-1", "1", "bash", subject, "/workspace", made, Digest(digest))


def ask(confirmer, *questions):
    async def run():
        return [await confirmer.ask(one, timeout_s=1) for one in questions]

    return anyio.run(run)


def test_nobody_says_no_with_words_for_the_model():
    """A run without a person refuses, and says what to do."""
    (answer,) = ask(NobodyConfirmer(), question())

    assert not answer.yes
    assert "nobody" in answer.reason


def test_a_blanket_yes_never_answers_an_unyielding_ask():
    """Opaque, evasion, over-limit and protected paths go to somebody real."""
    plain, unyielding = ask(
        BlanketConfirmer(NobodyConfirmer()), question(), question(unyielding=True)
    )

    assert (plain.yes, plain.by) == (True, "yolo")
    assert not unyielding.yes


def test_recorded_answers_fit_exactly(tmp_path):
    """A recorded yes for one command says nothing of another."""
    path = tmp_path / "answers.yaml"
    path.write_text(
        "version: 1\nanswers:\n- {command: git push, answer: yes}\n".replace("yes", "'yes'")
    )
    yes, no = ask(load_answers(path), question(), question("git push -f"))

    assert yes.yes
    assert not no.yes


def test_a_vague_recorded_answer_never_answers_an_unyielding_ask(tmp_path):
    """Only a recorded command or digest does."""
    path = tmp_path / "answers.yaml"
    path.write_text("version: 1\nanswers:\n- {tool: bash, answer: 'yes'}\n")
    (answer,) = ask(load_answers(path), question(unyielding=True))

    assert not answer.yes


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "version: 2\nanswers: []",
        "version: 1\nanswer: []",
        "version: 1\nanswers: [{answer: maybe}]",
        "version: 1\nanswers: 5",
        "version: 1\nanswers: {answer: 'yes'}",
        "version: 1\nanswers: [hunter2]",
        "version: 1\nanswers: [{answer: 'yes', comand: x}]",
        "version: 1\nanswers: [{answer: 'yes'",
        "version: 2026-99-99",
        "\x00",
    ],
)
def test_a_bad_answers_file_is_refused(tmp_path, text):
    """No answers are guessed."""
    path = tmp_path / "answers.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load_answers(path)

    assert caught.value.message.startswith(str(path))
    assert "hunter2" not in caught.value.message


def test_answers_file_that_is_missing_is_refused(tmp_path):
    """An empty one would answer nothing, too, but was not what was meant."""
    with pytest.raises(ConfigError, match="cannot be read"):
        load_answers(tmp_path / "none.yaml")


def test_answers_file_that_is_no_file_is_refused_without_waiting(tmp_path):
    """A pipe that nobody writes to would hold up the run for ever."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(ConfigError, match="expected a regular file, got a") as caught:
            load_answers(tmp_path / name)
        assert "docs/cli.md" in caught.value.hint
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="expected at most"):
        load_answers(tmp_path / "large.yaml")


def test_answers_file_without_answers_says_no(tmp_path):
    """Nothing written down is nothing said."""
    path = tmp_path / "answers.yaml"
    path.write_text("version: 1\n")

    assert not ask(load_answers(path), question())[0].yes


def test_recorded_no_carries_its_reason(tmp_path):
    """And comes before a later yes: the first that fits answers."""
    path = tmp_path / "answers.yaml"
    path.write_text(
        'version: 1\nanswers: [{rule: "risk:publishes", answer: "no", reason: by hand},'
        ' {tool: bash, answer: "yes"}]\n'
    )
    (answer,) = ask(load_answers(path), question())

    assert (answer.yes, answer.by, answer.reason) == (False, "file", "by hand")


def test_scripted_answers_are_given_in_turn_and_then_no():
    """The stand-in keeps what it was asked."""
    script = ScriptedConfirmer([Answer(yes=True, by="terminal")])
    first, second = ask(script, question(), question("other"))

    assert (first.yes, first.by, second.yes) == (True, "scripted", False)
    assert [asked.subject for asked in script.asked] == ["git push", "other"]
