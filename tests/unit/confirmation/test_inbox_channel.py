"""The inbox as a channel; the whole of it is shown in test_asking and end to end."""

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.channels import ChannelLostError
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.inbox_channel import InboxChannel, KeepingConfirmer
from orchestrator.confirmation.record import MAX_SHOWN
from orchestrator.confirmation.reply import Reply
from tests.support.asking import START, Someone, ask, no, question, until_asked, yes


def test_answer_for_a_question_before_there_is_a_session_counts(tmp_path):
    """A project's image is asked about by its own id."""
    inbox = Inbox(tmp_path / "q")
    channel = InboxChannel(inbox)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            return await channel.ask(question(session=""), timeout_s=20)

    async def answer():
        await until_asked(inbox)
        inbox.answer(question().id, Reply(answer="yes", by="inbox", time=START))

    assert anyio.run(run).yes


def test_time_that_is_over_is_a_no(tmp_path):
    """And the question is over in the inbox, too."""
    inbox = Inbox(tmp_path / "q")
    (answer,) = ask(InboxChannel(inbox), question(), timeout_s=0.3)

    assert (answer.yes, answer.by) == (False, "timeout")
    anyio.run(InboxChannel(inbox).close, question(), answer)
    assert inbox.all()[0].state == "closed"


def test_content_that_is_too_long_drops_the_channel(tmp_path):
    """Another channel can still show it whole."""
    long = question("x" * (MAX_SHOWN + 1))

    with pytest.raises(ChannelLostError, match="longer than"):
        ask(InboxChannel(Inbox(tmp_path / "q")), long)


def test_question_without_a_session_is_not_kept_for_a_stopped_run(tmp_path):
    """There is no run that would go on with it."""
    inbox = Inbox(tmp_path / "q")
    keeper = KeepingConfirmer(NobodyConfirmer(), inbox, note=lambda _: None)

    assert ask(keeper, question(session=""))[0].by == "nobody"
    assert inbox.all() == []


def test_question_that_cannot_be_kept_whole_stops_no_run(tmp_path):
    """Nobody could ever answer it: the model is told, and can make it smaller."""
    inbox = Inbox(tmp_path / "q")
    keeper = KeepingConfirmer(NobodyConfirmer(), inbox, note=lambda _: None)
    (answer,) = ask(keeper, question("x" * (MAX_SHOWN + 1)))

    assert (answer.yes, answer.by) == (False, "unaskable")
    assert "longer than" in answer.reason


@pytest.mark.parametrize(
    ("otherwise", "kept", "told"),
    [
        (NobodyConfirmer(), "waiting", 1),
        (Someone(no(by="timeout")), "waiting", 0),
        (Someone(no(by="limit")), None, 0),
        (Someone(yes()), None, 0),
    ],
    ids=["nobody", "too late", "limit", "answered"],
)
def test_question_is_kept_where_nobody_answered_it(tmp_path, otherwise, kept, told):
    """Whoever was not there, or not in time, may be later; a person's word is a person's word."""
    inbox, announced = Inbox(tmp_path / "q"), []

    async def announce(asked):
        announced.append(asked.id)

    keeper = KeepingConfirmer(otherwise, inbox, note=lambda _: None, announce=announce)
    (answer,) = ask(keeper, question())

    assert [held.state for held in inbox.all()] == ([kept] if kept else [])
    assert (answer.by == "nobody") is bool(kept)
    assert len(announced) == told


def test_lost_answer_is_the_one_that_lay_there(tmp_path):
    """Closing gives it back."""
    inbox = Inbox(tmp_path / "q")
    inbox.put(question())
    inbox.answer(question().id, Reply(answer="no", by="inbox", who="bo", time=START))

    lost = anyio.run(InboxChannel(inbox).close, question(), yes())

    assert (lost.yes, lost.who) == (False, "bo")
