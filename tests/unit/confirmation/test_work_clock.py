"""The time that a session works."""

import math

import anyio

from orchestrator.confirmation.work_clock import ClockedConfirmer, WorkClock


class Hands:
    """A clock that a test moves."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


def test_waiting_for_a_person_does_not_count():
    hands = Hands()
    clock = WorkClock(hands)
    hands.at += 5
    with clock.waiting():
        hands.at += 60
        assert clock.seconds() == 5
    hands.at += 2

    assert clock.seconds() == 7


def test_questions_side_by_side_are_one_wait():
    hands = Hands()
    clock = WorkClock(hands)
    with clock.waiting():
        hands.at += 10
        with clock.waiting():
            hands.at += 10
        hands.at += 10
        assert clock.seconds() == 0

    assert clock.seconds() == 0


def test_time_that_is_over_breaks_the_work_off():
    async def main():
        with WorkClock().allow(0.01) as scope:
            await anyio.sleep(5)
        return scope.cancelled_caught

    assert anyio.run(main)


def test_deadline_stands_still_while_a_person_is_waited_for():
    async def main():
        clock = WorkClock()
        with clock.allow(60) as scope, clock.waiting():
            during = scope.deadline
        return during, scope.deadline

    during, after = anyio.run(main)
    assert during == math.inf
    assert after < math.inf


def test_no_limit_is_never_over():
    async def main():
        with WorkClock().allow(None) as scope:
            return scope.deadline

    assert anyio.run(main) == math.inf


def test_answer_comes_through_with_the_clock_stopped():
    hands = Hands()
    clock = WorkClock(hands)

    class Person:
        async def ask(self, question, *, timeout_s):
            hands.at += 60
            return question, timeout_s

    async def main():
        return await ClockedConfirmer(Person(), clock).ask("q", timeout_s=3)

    assert anyio.run(main) == ("q", 3)
    assert clock.seconds() == 0
