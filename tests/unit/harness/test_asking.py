"""Who answers: flags decide, and answers are remembered."""

import anyio
import pytest

from orchestrator.confirmation.answers import ScriptedConfirmer
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.errors import UsageError
from orchestrator.harness.asking import confirmer_for, offered_scopes
from orchestrator.harness.options import RunOptions
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest

YES = Answer(yes=True, by="terminal", scope="session")


def options(tmp_path, **more):
    return RunOptions(prompt="x", directory=tmp_path, model="scripted:x", **more)


def ask(confirmer, *, times=1, **decision):
    made = Decision("ask", "risk:publishes", "session", "publishes", **decision)
    question = Question("q", "1", "bash", "git push", "/workspace", made, Digest("sha256:1"))

    async def run():
        return [await confirmer.ask(question, timeout_s=1) for _ in range(times)]

    return anyio.run(run)


@pytest.mark.parametrize("approve", [None, "ask"])
def test_person_at_the_front_door_answers(tmp_path, approve):
    """Where nothing else is said."""
    person = ScriptedConfirmer([YES])
    (answer,) = ask(confirmer_for(options(tmp_path, approve=approve), person))

    assert answer.yes
    assert len(person.asked) == 1


def test_session_answer_is_remembered(tmp_path):
    """Asked once, answered twice."""
    person = ScriptedConfirmer([YES])
    answers = ask(confirmer_for(options(tmp_path), person), times=2)

    assert [answer.yes for answer in answers] == [True, True]
    assert len(person.asked) == 1


def test_deny_bothers_nobody(tmp_path):
    """A terminal or not."""
    person = ScriptedConfirmer([YES])
    (answer,) = ask(confirmer_for(options(tmp_path, approve="deny"), person))

    assert (answer.yes, answer.by) == (False, "nobody")
    assert person.asked == []


def test_yolo_answers_what_yields_and_hands_on_the_rest(tmp_path):
    """An unyielding ask goes to the person, or to nobody."""
    person = ScriptedConfirmer([])
    confirmer = confirmer_for(options(tmp_path, yolo=True), person)

    assert ask(confirmer)[0].by == "yolo"
    assert person.asked == []
    assert not ask(confirmer, unyielding=True)[0].yes
    assert len(person.asked) == 1


def test_answers_file_answers_in_place_of_a_person(tmp_path):
    """A question it does not hold is a no."""
    file = tmp_path / "answers.yaml"
    file.write_text('version: 1\nanswers: [{command: git push, answer: "yes"}]\n')
    person = ScriptedConfirmer([])
    (answer,) = ask(confirmer_for(options(tmp_path, approve=str(file)), person))

    assert (answer.yes, answer.by, person.asked) == (True, "file", [])


@pytest.mark.parametrize("word", ["yes", "", "missing.yaml"])
def test_word_that_is_neither_flag_nor_file_is_a_usage_error(tmp_path, word):
    """No misspelled ``deny`` becomes a yes."""
    with pytest.raises(UsageError):
        confirmer_for(options(tmp_path, approve=word or "nothing-of-the-kind"), ScriptedConfirmer())


@pytest.mark.parametrize(
    ("allowed", "offered"),
    [
        (["once", "session", "30m"], ("once", "session")),
        (["once"], ("once",)),
        ([], ("once",)),
        (["project"], ("once",)),
    ],
)
def test_scopes_are_what_policy_allows_of_what_there_is(allowed, offered):
    """Once can always be said."""
    assert offered_scopes(allowed) == offered
