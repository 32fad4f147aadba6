"""Answers that were given before: denials of this run, yeses that stand, answers in the inbox."""

import anyio
import pytest

from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.memory import RememberingConfirmer
from orchestrator.confirmation.reply import Reply
from tests.support.asking import ALL, START, Clock, Someone, ask, no, question, yes


class Opened:
    """A memory over real folders."""

    def __init__(self, folder, *answers):
        self.clock = Clock()
        self.person = Someone(*answers)
        self.grants = Grants(folder / "grants", now=self.clock)
        self.inbox = Inbox(folder / "questions", now=self.clock)
        self.confirmer = self.again()

    def again(self):
        """Return a new process's confirmer over the same folders."""
        return RememberingConfirmer(self.person, grants=self.grants, inbox=self.inbox)


@pytest.fixture
def opened(tmp_path):
    return lambda *answers: Opened(tmp_path, *answers)


def test_yes_for_a_session_holds_for_equal_calls_of_it(opened):
    """Another command, another session, another project are asked about."""
    made = opened(yes("session"), no(), no(), no())
    first, again = ask(made.confirmer, question(), question())
    others = [question("git push origin x"), question(session="f" * 12), question(project="/p")]

    assert (first.by, again.by, again.scope) == ("terminal", "memory", "session")
    assert again.grant == made.grants.all()[0].id
    assert [answer.yes for answer in ask(made.confirmer, *others)] == [False] * 3


def test_equal_questions_at_one_time_are_one(opened):
    """The second has the first one's answer, and does not end its question in the inbox."""
    made = opened(yes("session"), no())
    made.person.after = anyio.Event()
    answers = []

    async def put(call):
        asked = question(more={"id": f"{call}11111111111", "call": call})
        answers.append(await made.confirmer.ask(asked, timeout_s=5))

    async def run():
        async with anyio.create_task_group() as group:
            for call in ("a", "b"):
                group.start_soon(put, call)
            await anyio.sleep(0.2)
            made.person.after.set()

    anyio.run(run)

    assert [(answer.yes, answer.by) for answer in answers] == [(True, "terminal"), (True, "memory")]
    assert len(made.person.asked) == 1


def test_yes_for_a_session_survives_a_restart(opened):
    """A resumed session is the same session."""
    made = opened(yes("session"))
    ask(made.confirmer, question())

    assert ask(made.again(), question())[0].by == "memory"


@pytest.mark.parametrize("scope", ["30m", "project"])
def test_yes_for_longer_holds_in_other_sessions_of_the_project_alone(opened, scope):
    """And another project's equal call is asked about."""
    made = opened(yes(scope), no())
    ask(made.confirmer, question())

    assert ask(made.again(), question(session="f" * 12))[0].yes
    assert not ask(made.again(), question(project="/home/ann/other"))[0].yes


def test_yes_ends_with_its_time(opened):
    """30 minutes later it is asked again."""
    made = opened(yes("30m"), no())
    ask(made.confirmer, question())
    made.clock.passes(minutes=29, seconds=59)
    assert ask(made.again(), question())[0].yes
    made.clock.passes(seconds=1)

    assert not ask(made.again(), question())[0].yes


def test_yes_that_was_taken_back_holds_no_longer(opened):
    """At once, also in a run that is under way."""
    made = opened(yes("project"), no("changed my mind"))
    ask(made.confirmer, question())
    Grants(made.grants._folder.path, now=made.clock).revoke_all(who="ann")

    assert ask(made.confirmer, question())[0].reason == "changed my mind"


def test_yes_for_once_is_not_kept(opened):
    """Nothing stands after it."""
    made = opened(yes(), no())

    assert [answer.yes for answer in ask(made.confirmer, question(), question())] == [True, False]
    assert made.grants.all() == []


@pytest.mark.parametrize("decision", [{"always": True}, {"unyielding": True}])
def test_rule_that_asks_each_time_anew_asks_twenty_times(opened, decision):
    """A yes for longer is taken for once."""
    made = opened(*[yes("session")] * 20)

    ask(made.confirmer, *[question(**decision)] * 20)

    assert len(made.person.asked) == 20
    assert made.grants.all() == []


def test_yes_that_policy_does_not_offer_is_not_kept(opened):
    """Whatever the channel said."""
    made = opened(yes("project"), no())

    answers = ask(made.confirmer, *[question(scopes=("once", "session"))] * 2)

    assert [answer.yes for answer in answers] == [True, False]


def test_yes_that_stands_is_silent_where_policy_offers_its_scope_no_longer(opened):
    """Today's policy binds, not the one that it was given under."""
    made = opened(yes("project"), no())
    ask(made.confirmer, question())

    assert not ask(made.confirmer, question(scopes=("once", "session")))[0].yes


@pytest.mark.parametrize(
    "changed",
    [
        {"rule": "risk:upload"},
        {"layer": "org"},
        {"risks": ("publishes", "destructive")},
        {"always": True},
        {"unyielding": True},
    ],
)
def test_yes_answers_no_graver_question(opened, changed):
    """What asks for another reason, or sees another risk, is asked."""
    made = opened(yes("project"), no("not that"))
    ask(made.confirmer, question(risks=("publishes",)))

    assert ask(made.confirmer, question(**{"risks": ("publishes",)} | changed))[0].by == "terminal"


DENIED = "cd . && rm -rf build"
REWRITES = [
    "cd . && rm -rf build",
    "rm  -rf  'build'",
    'r"m" -fr ./build/',
    "rm -r -f build # tidy",
    "true; rm -rf build",
    "bash -c 'rm -rf build'",
    "timeout 5 rm -rfv build",
    "d=build; rm -rf $d",
    "cd src && rm -rf ../build",
    "rm -r build",
    "rm -rf build y",
]
RISK = {"rule": "risk:destructive", "risks": ("destructive",)}


@pytest.mark.parametrize("rewrite", REWRITES)
def test_denied_call_is_denied_again_however_it_is_written(opened, rewrite):
    """The person is not asked twice for the same thing, and the model hears the reason again."""
    made = opened(no("I need it"), yes())
    _, again = ask(made.confirmer, question(DENIED, **RISK), question(rewrite, **RISK))

    assert (again.yes, again.by) == (False, "memory")
    assert again.reason.startswith("I need it")
    assert len(made.person.asked) == 1


PUSHES = [
    "git push origin main:main",
    "git push origin refs/heads/main",
    "git push origin +main",
    "git -C . push origin main",
    "git -c x.y=z push origin main",
    "git push --repo=origin main",
    "git push origin x1:main",
    "git push -o x1 origin main",
    "git push origin main x1",
]


@pytest.mark.parametrize("rewrite", PUSHES)
def test_denied_push_is_denied_again_under_every_name_of_its_target(opened, rewrite):
    """What the model may vary without end is never a question of its own."""
    made = opened(no("not on Fridays"), yes())
    _, again = ask(made.confirmer, question("git push origin main"), question(rewrite))

    assert (again.yes, again.by) == (False, "memory")
    assert len(made.person.asked) == 1


@pytest.mark.parametrize("other", ["git push origin topic", "git push upstream main", "git push"])
def test_push_elsewhere_is_asked_about(opened, other):
    """It changes something else over there."""
    made = opened(no(), yes())

    assert ask(made.confirmer, question("git push origin main"), question(other))[1].yes


@pytest.mark.parametrize("rewrite", PUSHES)
def test_yes_to_a_push_answers_no_other_spelling_of_it(opened, rewrite):
    """Only a no is for what amounts to the same; a yes is for the digest that was shown."""
    made = opened(yes("project"), no())

    assert not ask(made.confirmer, question("git push origin main"), question(rewrite))[1].yes


@pytest.mark.parametrize(
    "changed", ["rm -rf dist", "rm -rf other", "cd src && rm -rf build", "rm build/a.o"]
)
def test_changed_call_is_asked_about(opened, changed):
    """A no is to what was asked, not to everything alike."""
    made = opened(no(), yes())

    assert ask(made.confirmer, question(DENIED, **RISK), question(changed, **RISK))[1].yes


def test_part_of_a_denied_call_is_asked_about(opened):
    """The no may have been to the other half."""
    made = opened(no(), yes())
    both = question("rm -rf build && git push origin main", **RISK)

    assert ask(made.confirmer, both, question("rm -rf build", **RISK))[1].yes


def test_answer_of_no_person_is_no_denial(opened):
    """Nobody there in time may be somebody there a minute later."""
    made = opened(no(by="timeout"), no(by="limit"), yes())

    assert ask(made.confirmer, *[question()] * 3)[2].yes


def test_answer_that_lies_in_the_inbox_counts_once(opened):
    """The run stopped at this question; the call it was for runs, and no second one."""
    made = opened(no())
    asked = question()
    made.inbox.put(asked)
    made.inbox.answer(asked.id, Reply(answer="yes", by="inbox", who="ann", time=START))

    first, second = ask(made.confirmer, asked, asked)

    assert (first.yes, first.by, first.who) == (True, "inbox", "ann")
    assert (second.yes, second.by) == (False, "terminal")


def test_answer_in_the_inbox_is_for_its_digest_session_and_rule(opened):
    """An answer says nothing of what was not asked."""
    made = opened(*[no()] * 5)
    made.inbox.put(question())
    made.inbox.answer(question().id, Reply(answer="yes", by="inbox", time=START))
    others = [
        question("git push origin other"),
        question(session="f" * 12),
        question(project="/p"),
        question(rule="risk:upload"),
        question(timeout_s=600.0),
    ]

    for other in others:
        assert not ask(made.again(), other)[0].yes
    assert ask(made.again(), question())[0].yes


def test_wider_yes_covers_its_pattern(opened):
    """The pattern's one word may be another; everything else is asked about."""
    made = opened(yes("session", widened=True), *[no()] * 9)
    ask(made.confirmer, question())

    covered = ["git push origin topic/x", "bash -lc 'git push origin v1.2'"]
    for command in covered:
        assert ask(made.again(), question(command))[0].by == "memory", command
    others = [
        "git push upstream main",
        "git push origin main --force",
        "git push --force origin main",
        "git push origin main other",
        "git push origin :main",
        "git push origin +main",
        "git push origin ../main",
        "git push origin $BRANCH",
        "git push origin main && echo",
    ]
    for command in others:
        assert ask(made.again(), question(command))[0].by == "terminal", command


def test_yes_that_was_not_widened_covers_no_pattern(opened):
    """Exactly this is exactly this."""
    made = opened(yes("session"), no())

    assert not ask(made.confirmer, question(), question("git push origin topic"))[1].yes


def test_scopes_are_the_ones_of_the_tests():
    """All scopes are offered where nothing else is said."""
    assert question().scopes == ALL
