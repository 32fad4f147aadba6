"""Who answers: flags and settings decide, and answers are remembered."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.config.settings import ApprovalsSettings, WebhookSettings
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.reply import Reply
from orchestrator.errors import ConfigError, CredentialError, UsageError
from orchestrator.harness.asking import asking_under, confirmer_for, record_late
from orchestrator.harness.desk import open_desk
from orchestrator.harness.keys import open_key_store
from orchestrator.harness.options import RunOptions
from orchestrator.policy.load import load_policy
from orchestrator.schema.request import ExecRequest
from tests.support.asking import START, Someone, ask, question, until_asked, yes


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def policy():
    return load_policy(["default"], search=asset("policies"), user_file=None)


def options(tmp_path, **more):
    return RunOptions(prompt="x", directory=tmp_path, model="scripted:x", **more)


@pytest.fixture
def desk(paths, policy):
    def opened(settings=None, *, environ=None, notes=None, approve=None):
        keys = open_key_store(paths, environ or {})
        note = (notes if notes is not None else []).append
        run = options(paths.state, approve=approve)
        return open_desk(
            paths, policy, settings or ApprovalsSettings(), keys=keys, note=note, run=run
        )

    return opened


@pytest.mark.parametrize("approve", [None, "ask"])
def test_person_at_the_front_door_answers(tmp_path, desk, approve):
    """Where nothing else is said."""
    person = Someone(yes())
    (answer,) = ask(confirmer_for(options(tmp_path, approve=approve), person, desk()), question())

    assert answer.yes
    assert len(person.asked) == 1


def test_session_answer_is_remembered(tmp_path, desk):
    """Asked once, answered twice."""
    person = Someone(yes("session"))
    answers = ask(confirmer_for(options(tmp_path), person, desk()), question(), question())

    assert [answer.yes for answer in answers] == [True, True]
    assert len(person.asked) == 1


def test_deny_bothers_nobody(tmp_path, desk):
    """A terminal or not."""
    person = Someone(yes())
    (answer,) = ask(confirmer_for(options(tmp_path, approve="deny"), person, desk()), question())

    assert (answer.yes, answer.by) == (False, "nobody")
    assert person.asked == []


def test_nobody_there_is_a_no_at_once(tmp_path, desk):
    """Nothing waits on the disk for an answer that the run does not wait for."""
    made = desk()
    (answer,) = ask(confirmer_for(options(tmp_path), None, made), question())

    assert answer.by == "nobody"
    assert made.inbox.all() == []


def test_nobody_there_under_stop_keeps_the_question(tmp_path, desk):
    """And says how it is answered."""
    notes = []
    made = desk(notes=notes)
    (answer,) = ask(confirmer_for(options(tmp_path, on_ask="stop"), None, made), question())

    assert answer.by == "nobody"
    (held,) = made.inbox.all()
    assert (held.question.id, held.state) == (question().id, "waiting")
    assert f"approvals answer {question().id}" in notes[0]
    assert f"--resume {question().session}" in notes[1]


def test_person_who_does_not_answer_in_time_under_stop_may_answer_later(tmp_path, desk):
    """The run ends resumably, and the question waits as if nobody had been there."""
    made = desk()
    confirmer = confirmer_for(options(tmp_path, on_ask="stop"), Someone(), made)
    (answer,) = ask(confirmer, question(), timeout_s=0.3)

    assert answer.by == "nobody"
    assert [held.state for held in made.inbox.all()] == ["waiting"]
    made.inbox.answer(question().id, Reply(answer="yes", by="inbox", time=START))
    assert ask(confirmer_for(options(tmp_path), None, made), question())[0].by == "inbox"


def test_ask_without_a_terminal_waits_in_the_inbox(tmp_path, desk):
    """Who says ask, waits for somebody."""
    notes = []
    made = desk(notes=notes)
    confirmer = confirmer_for(options(tmp_path, approve="ask"), None, made)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            return await confirmer.ask(question(), timeout_s=20)

    async def answer():
        await until_asked(made.inbox)
        reply = Reply(answer="yes", by="inbox", who="ann", time=START)
        made.inbox.answer(question().id, reply)

    given = anyio.run(run)

    assert (given.yes, given.by, given.who) == (True, "inbox", "ann")
    assert "approvals answer" in notes[0]


def test_inbox_answers_beside_the_terminal(tmp_path, desk):
    """Whichever is faster; the terminal is told."""
    made = desk()
    person = Someone()
    confirmer = confirmer_for(options(tmp_path), person, made)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            return await confirmer.ask(question(), timeout_s=20)

    async def answer():
        await until_asked(made.inbox)
        made.inbox.answer(question().id, Reply(answer="no", by="inbox", reason="b", time=START))

    given = anyio.run(run)

    assert (given.yes, given.by, given.reason) == (False, "inbox", "b")
    assert [told.by for told in person.told] == ["inbox"]


def test_yolo_answers_what_yields_and_hands_on_the_rest(tmp_path, desk):
    """An unyielding ask goes to the person, or to nobody."""
    person = Someone(yes())
    confirmer = confirmer_for(options(tmp_path, yolo=True), person, desk())

    assert ask(confirmer, question())[0].by == "yolo"
    assert person.asked == []
    assert ask(confirmer, question(unyielding=True))[0].by == "terminal"
    assert len(person.asked) == 1


def test_answers_file_answers_in_place_of_a_person(tmp_path, desk):
    """A question it does not hold is a no."""
    file = tmp_path / "answers.yaml"
    file.write_text('version: 1\nanswers: [{command: git push origin main, answer: "yes"}]\n')
    person = Someone()
    confirmer = confirmer_for(options(tmp_path, approve=str(file)), person, desk())
    known, unknown = ask(confirmer, question(), question("git push"))

    assert (known.yes, known.by, known.via, unknown.yes) == (True, "file", str(file), False)
    assert person.asked == []


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        ('answer: "yes"', False),
        ('{tool: bash, answer: "yes"}', False),
        ('{rule: "risk:publishes", answer: "yes"}', False),
        ('{command: git push origin main, answer: "yes"}', True),
    ],
)
def test_where_a_blanket_yes_is_denied_a_recorded_one_must_be_exact(tmp_path, desk, line, yes):
    """A file that says yes to everything is --yolo by another name."""
    file = tmp_path / "answers.yaml"
    file.write_text(f"version: 1\nanswers:\n  - {line}\n")
    run = options(tmp_path, approve=str(file))
    exact = replace(desk(), exact_only=True)

    assert ask(confirmer_for(run, None, exact), question())[0].yes is yes
    assert ask(confirmer_for(run, None, desk()), question())[0].yes


def test_where_a_blanket_yes_is_denied_yolo_gives_none(tmp_path, desk):
    """Also where something let the flag through."""
    exact = replace(desk(), exact_only=True)

    assert not ask(confirmer_for(options(tmp_path, yolo=True), None, exact), question())[0].yes


@pytest.mark.parametrize("word", ["yes", "nothing-of-the-kind", "missing.yaml"])
def test_word_that_is_neither_flag_nor_file_is_a_usage_error(tmp_path, desk, word):
    """No misspelled ``deny`` becomes a yes."""
    with pytest.raises(UsageError):
        confirmer_for(options(tmp_path, approve=word), None, desk())


def test_questions_are_bounded_by_policy(tmp_path, desk):
    """The person is asked so often; more is a no that asks nobody, except what is remembered."""
    made = desk()
    person = Someone(*[yes()] * 100)
    confirmer = confirmer_for(options(tmp_path), person, made)
    asked = [question(f"git push origin b{number}") for number in range(61)]

    answers = ask(confirmer, *asked)

    assert [answer.by for answer in answers] == ["terminal"] * 60 + ["limit"]
    assert made.questions_per_hour == 60


def test_webhook_needs_its_secret(desk):
    """A channel that was asked for is never left out in silence."""
    settings = ApprovalsSettings(webhook=WebhookSettings(url="https://hooks.acme.example/a"))

    with pytest.raises(CredentialError, match="approvals-webhook"):
        desk(settings)
    assert desk(settings, environ={"APPROVALS_WEBHOOK_API_KEY": "shared"}).webhook is not None


@pytest.mark.parametrize("approve", ["deny", "answers.yaml"])
def test_run_that_asks_nobody_needs_no_secret(desk, approve):
    """A build server with recorded answers opens no vault."""
    settings = ApprovalsSettings(webhook=WebhookSettings(url="https://hooks.acme.example/a"))

    assert desk(settings, approve=approve).webhook is None


@pytest.mark.parametrize(
    ("webhook", "message"),
    [
        ({"url": "http://hooks.acme.example/a"}, "plain http is for this machine alone"),
        ({"url": "ftp://hooks.acme.example/a"}, "https"),
        ({"url": "https://u:p@hooks.acme.example/a"}, "without user"),
        ({"url": "https://hooks.acme.example/a", "key": "Not A Name"}, "key name"),
    ],
)
def test_webhook_that_would_leak_questions_is_refused(desk, webhook, message):
    """The place is named."""
    with pytest.raises(ConfigError, match=f"config.yaml: approvals.webhook.*{message}"):
        desk(ApprovalsSettings(webhook=WebhookSettings(**webhook)))


def test_questions_are_put_within_what_policy_allows(tmp_path, policy):
    """Time, scopes and the reading of the command come from it."""
    made = asking_under(policy, NobodyConfirmer(), options(tmp_path, on_ask="stop"), session="s")

    assert (made.timeout_s, made.stop_when_nobody) == (600.0, True)
    assert made.scopes == ("once", "session", "30m", "project")
    assert (made.session, made.project) == ("s", str(tmp_path))
    likeness = made.liken(ExecRequest("rm -rf build", "/workspace", 5.0))
    assert "destructive: deletes a whole tree: build" in likeness.effects


def test_late_answers_are_recorded_once(desk):
    """At the end of the session that they came to."""
    made = desk()
    made.inbox.put(question())
    made.inbox.answer(question().id, Reply(answer="yes", by="inbox", who="ann", time=START))
    made.inbox.collect(question())
    with pytest.raises(Exception, match="does not count"):
        made.inbox.answer(question().id, Reply(answer="no", by="inbox", who="bo", time=START))
    records = []

    class Audit:
        def append(self, kind, body, /):
            records.append((kind, body))
            return len(records)

    record_late(made, question().session, Audit())
    record_late(made, question().session, Audit())

    ((kind, body),) = records
    assert (kind, body["yes"], body["who"]) == ("approval_lost", False, "bo")
    assert body["question"] == question().id
