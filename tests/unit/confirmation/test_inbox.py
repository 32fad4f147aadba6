"""Questions on disk: answered once, by anybody of this user, also after a restart."""

import json
import os
import stat
from datetime import timedelta

import anyio
import pytest
from anyio import to_thread

from orchestrator.confirmation.held import describe
from orchestrator.confirmation.inbox import KEPT_DAYS, Inbox
from orchestrator.confirmation.record import MAX_SHOWN
from orchestrator.confirmation.reply import Reply
from orchestrator.errors import ApprovalError, ConfigError, UsageError
from tests.support.asking import START, Clock, no, question, yes


def reply(answer="yes", **more):
    return Reply(**({"answer": answer, "by": "inbox", "who": "ann", "time": START} | more))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def inbox(tmp_path, clock):
    return Inbox(tmp_path / "approvals" / "questions", now=clock)


def test_question_waits_on_disk_for_this_user_alone(inbox, tmp_path):
    """Nobody else can read or answer it."""
    inbox.put(question())
    folder = tmp_path / "approvals" / "questions"

    for path in (folder, folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (held,) = Inbox(folder).all()
    assert (held.question.subject, held.state) == ("git push origin main", "waiting")


def test_question_keeps_no_known_secret(inbox):
    """What is shown elsewhere, or lies on a disk, holds none."""
    asked = question(
        "deploy hunter2-value", more={"scrub": lambda text: text.replace("hunter2-value", "[x]")}
    )
    inbox.put(asked)

    assert "hunter2" not in json.dumps(inbox.all()[0].model_dump(mode="json"))
    assert inbox.all()[0].question.pattern is None


def test_answer_is_used_once(inbox):
    """A yes lets one call run."""
    inbox.put(question())
    inbox.answer(question().id, reply(scope="session", reason="go"))

    answer = inbox.collect(question())
    assert (answer.yes, answer.scope, answer.who, answer.by) == (True, "session", "ann", "inbox")
    assert inbox.collect(question()) is None
    assert inbox.take(question()) is None
    assert inbox.find(question().id).state == "used"


@pytest.mark.parametrize("word", ["", "abc", "nothing-of-the-kind", "../../etc/passwd"])
def test_unknown_id_is_an_error(inbox, word):
    """Nothing is answered by accident."""
    inbox.put(question())

    with pytest.raises(UsageError, match="there is none"):
        inbox.answer(word, reply())


def test_beginning_of_an_id_names_it_where_it_is_the_only_one(inbox):
    """And is refused where it is not."""
    inbox.put(question(more={"id": "abcde111"}))
    inbox.put(question("git push", more={"id": "abcde222"}))
    inbox.put(question("git push -u", more={"id": "abcd"}))

    assert inbox.find("abcde1").question.id == "abcde111"
    assert inbox.find("abcd").question.id == "abcd"
    with pytest.raises(UsageError, match="several"):
        inbox.find("abcde")


def test_second_answer_does_not_count_and_is_kept(inbox):
    """The first counts; the other is told so, and recorded once."""
    inbox.put(question())
    inbox.answer(question().id, reply("no", reason="first"))

    with pytest.raises(ApprovalError, match="answered no by inbox"):
        inbox.answer(question().id, reply("yes", who="bo"))
    assert not inbox.collect(question()).yes
    ((asked, late),) = inbox.drain_late(question().session)
    assert (asked.id, late.answer, late.who) == (question().id, "yes", "bo")
    assert inbox.drain_late(question().session) == []


def test_many_answers_at_once_are_one(inbox, tmp_path):
    """Under the lock, one of twenty counts, and nineteen are late."""
    inbox.put(question())
    folder = tmp_path / "approvals" / "questions"
    counted = []

    def answer(number):
        try:
            Inbox(folder, now=Clock()).answer(question().id, reply(who=f"p{number}"))
        except ApprovalError:
            return
        counted.append(number)

    async def race():
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(to_thread.run_sync, answer, number)

    anyio.run(race)

    assert len(counted) == 1
    assert inbox.collect(question()).who == f"p{counted[0]}"
    assert len(inbox.drain_late(question().session)) == 19


def test_question_answered_elsewhere_is_over_here(inbox):
    """An answer that lay ready is returned as lost; a later one is told who was faster."""
    inbox.put(question())
    assert inbox.close(question(), no("x")) is None
    inbox.put(question("git push"))
    inbox.answer(question("git push").id, reply("no"))
    lost = inbox.close(question("git push"), yes(by="terminal", who="ann"))

    assert (lost.yes, lost.by) == (False, "inbox")
    with pytest.raises(ApprovalError, match="answered yes by terminal"):
        inbox.answer(question("git push").id, reply("no"))
    # What close gave back is recorded by whoever asked; the rest comes from here.
    assert [late.answer for _, late in inbox.drain_late(question().session)] == ["no"]


@pytest.mark.parametrize("answered", [False, True])
def test_question_ends_with_its_time(inbox, clock, answered):
    """An answer after it counts for nothing, and neither does one that nobody fetched by then."""
    inbox.put(question(), expires=START + timedelta(minutes=10))
    if answered:
        inbox.answer(question().id, reply())
    clock.passes(minutes=10)

    assert inbox.take(question()) is None
    with pytest.raises(ApprovalError, match="it was over at 2026-01-01 12:10:00Z"):
        inbox.answer(question().id, reply())


def test_question_of_a_stopped_run_waits_for_days(inbox, clock):
    """Then it is over, too, and later it is gone."""
    inbox.put(question())
    clock.passes(days=KEPT_DAYS, seconds=-1)
    assert inbox.all()[0].status(clock()) == "waiting"
    clock.passes(seconds=1)
    assert inbox.all()[0].status(clock()) == "expired"
    clock.passes(days=3 * KEPT_DAYS)
    inbox.put(question("git push"))

    assert [held.question.subject for held in inbox.all()] == ["git push"]


def test_same_question_asked_anew_replaces_the_older_one(inbox):
    """A killed run that goes on asks again; one of the two can be answered."""
    inbox.put(question(more={"id": "aaaa1111"}))
    inbox.put(question(more={"id": "bbbb2222"}))

    with pytest.raises(ApprovalError, match="asked anew"):
        inbox.answer("aaaa1111", reply())
    inbox.answer("bbbb2222", reply())
    assert inbox.take(question()).yes


def test_question_that_nobody_answers_any_more_is_over(inbox):
    """The run went on without an answer: a later one would be to nothing."""
    inbox.put(question())
    assert inbox.take(question()) is None

    with pytest.raises(ApprovalError, match="asked anew"):
        inbox.answer(question().id, reply())


def test_id_names_one_question_for_good(inbox):
    """Whoever has seen one cannot be made to answer another under its name."""
    inbox.put(question(more={"id": "aaaa1111"}))

    with pytest.raises(ApprovalError, match="another question's"):
        inbox.put(question("git push --force", more={"id": "aaaa1111"}))
    assert inbox.find("aaaa1111").question.subject == "git push origin main"


@pytest.mark.parametrize("scope", ["project", "45m", "ever", ""])
def test_yes_that_is_not_offered_is_refused(inbox, scope):
    """Policy binds; the question still waits."""
    inbox.put(question(scopes=("once", "session")))

    with pytest.raises(UsageError, match="not offered"):
        inbox.answer(question().id, reply(scope=scope))
    assert inbox.all()[0].state == "waiting"


@pytest.mark.parametrize(
    ("command", "scope", "why"),
    [
        ("python -c 'print(1)'", "session", "only exactly this"),
        ("git push origin main", "once", "choose a scope"),
    ],
)
def test_wider_yes_that_is_not_offered_is_refused(inbox, command, scope, why):
    """Interpreters cannot be generalised, and once is once."""
    inbox.put(question(command))

    with pytest.raises(UsageError, match=why):
        inbox.answer(question(command).id, reply(scope=scope, widened=True))


def test_content_that_is_too_long_to_be_seen_is_not_kept(inbox):
    """A yes to a part of it would be a yes to the unseen rest."""
    with pytest.raises(ApprovalError, match="longer than"):
        inbox.put(question("x" * (MAX_SHOWN + 1)))


@pytest.mark.parametrize("spoil", ["other_mode", "link", "words", "name", "fifo"])
def test_file_that_another_could_have_made_is_refused(inbox, tmp_path, spoil):
    """Never a yes by accident."""
    inbox.put(question())
    inbox.answer(question().id, reply())
    path = tmp_path / "approvals" / "questions" / f"{question().id}.json"
    if spoil == "other_mode":
        path.chmod(0o666)
    elif spoil == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif spoil == "words":
        path.write_text("{}")
    elif spoil == "name":
        path.rename(path.with_name("0000aaaa.json"))
    else:
        path.unlink()
        os.mkfifo(path, 0o600)

    with pytest.raises(ConfigError):
        inbox.take(question())


def test_folder_that_others_may_write_is_refused(inbox, tmp_path):
    """They could put an answer there."""
    inbox.put(question())
    (tmp_path / "approvals" / "questions").chmod(0o777)

    with pytest.raises(ConfigError, match="yours alone"):
        inbox.take(question())


def test_state_is_told_in_words(inbox, clock):
    """For whoever comes to look."""
    inbox.put(question())
    assert describe(inbox.all()[0], clock()) == "it waits for an answer"
    inbox.answer(question().id, reply())
    inbox.collect(question())

    words = "answered yes by inbox (ann) at 2026-01-01 12:00:00Z, and used"
    assert describe(inbox.all()[0], clock()) == words
