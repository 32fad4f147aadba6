"""Several ways to a person, side by side."""

import anyio
import pytest

from orchestrator.confirmation.channels import RacingConfirmer
from tests.support.asking import Someone, ask, no, question, yes


def racing(*channels, notes=None, announce=None):
    note = (notes if notes is not None else []).append
    return RacingConfirmer(channels, note=note, announce=announce)


def test_first_answer_counts_and_the_others_are_told():
    """Whoever is slower reads who was faster."""
    slow, fast = Someone(yes(), after=anyio.Event()), Someone(no("mine", by="inbox"))
    (answer,) = ask(racing(slow, fast), question())

    assert (answer.yes, answer.by, answer.reason, answer.lost) == (False, "inbox", "mine", ())
    assert [told.by for told in slow.told] == ["inbox"]
    assert fast.told == []


def test_two_answers_at_once_are_one_and_a_lost_one():
    """Both are known; the first counts."""
    go = anyio.Event()
    one, two = Someone(yes(), after=go), Someone(no(by="inbox"), after=go)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(release)
            return await racing(one, two).ask(question(), timeout_s=5)

    async def release():
        while not (one.asked and two.asked):
            await anyio.lowlevel.checkpoint()
        go.set()

    answer = anyio.run(run)

    assert len(answer.lost) == 1
    assert {answer.by, answer.lost[0].by} == {"terminal", "inbox"}
    assert answer.yes != answer.lost[0].yes


def test_answer_that_a_channel_still_held_is_kept_as_lost():
    """It was given, and came too late."""
    other = Someone(after=anyio.Event(), late=no(by="webhook", who="bo"))
    (answer,) = ask(racing(Someone(yes()), other), question())

    assert answer.yes
    assert [(late.by, late.who) for late in answer.lost] == [("webhook", "bo")]


def test_channel_that_fails_answers_for_nobody():
    """The other one is still asked; what went wrong is told."""
    notes = []
    broken, person = Someone(fails="webhook: forged"), Someone(yes())
    (answer,) = ask(racing(broken, person, notes=notes), question())

    assert (answer.yes, answer.by) == (True, "terminal")
    assert notes == ["webhook: forged"]


@pytest.mark.parametrize("channels", [[Someone(fails="a"), Someone(fails="b")], [Someone()], []])
def test_no_answer_from_anywhere_is_a_no(channels):
    """All failed, nobody answered in time, or there was nobody."""
    (answer,) = ask(racing(*channels), question(), timeout_s=0.05)

    assert (answer.yes, answer.by) == (False, "timeout")


def test_silence_on_one_channel_ends_no_other():
    """A channel that gave up early said neither yes nor no."""
    go = anyio.Event()
    silent, slow = Someone(no(by="timeout")), Someone(yes(), after=go)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(release)
            return await racing(silent, slow).ask(question(), timeout_s=5)

    async def release():
        await anyio.wait_all_tasks_blocked()
        go.set()

    answer = anyio.run(run)

    assert (answer.yes, answer.by, answer.lost) == (True, "terminal", ())


def test_channel_that_does_not_hear_of_the_end_holds_nothing_up():
    """A call does not wait for a receiver that is stuck."""

    class Stuck(Someone):
        async def close(self, question, answer):  # noqa: ARG002 - the Protocol
            await anyio.sleep_forever()

    (answer,) = ask(racing(Stuck(after=anyio.Event()), Someone(yes())), question())

    assert answer.yes


def test_notice_goes_out_while_the_question_waits():
    """It neither holds the answer up nor outlives it."""
    told = []

    async def announce(asked):
        told.append(asked.id)
        await anyio.sleep_forever()

    assert ask(racing(Someone(yes()), announce=announce), question())[0].yes
    assert told == [question().id]


def test_questions_wait_side_by_side():
    """None holds another up; each has its own time, from when it was asked."""
    first, second = question(), question("git push")
    answers = {}

    class OfSecond(Someone):
        async def ask(self, asked, *, timeout_s):
            self.asked.append(asked)
            if asked.id != second.id:
                await anyio.sleep(timeout_s)
                return no(by="timeout")
            return yes(by="inbox")

    person = OfSecond()
    confirmer = racing(person)

    async def put(asked, timeout_s):
        answers[asked.id] = await confirmer.ask(asked, timeout_s=timeout_s)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(put, first, 60)
            await anyio.wait_all_tasks_blocked()
            await put(second, 5)
            group.cancel_scope.cancel()

    anyio.run(run)

    assert {asked.id for asked in person.asked} == {first.id, second.id}
    assert (answers[second.id].yes, answers[second.id].by) == (True, "inbox")
    assert first.id not in answers
