"""Who waits for whom while a person is asked, and what nobody is asked twice."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.harness.egress.asker import (
    AGAIN_S,
    MOST_HELD,
    MOST_KEPT,
    MOST_UNHEARD,
    EgressAsker,
)
from orchestrator.schema.decision import Decision
from tests.support import asking
from tests.support.asking import Waiting, no, yes
from tests.support.egress_desk import CURL, GET, TUNNEL, open_egress_desk, says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_requests_for_the_same_share_one_answer(tmp_path):
    someone, let = Waiting(yes()), []

    async with open_egress_desk(tmp_path, says("ask"), someone=someone) as desk:

        async def admit():
            let.append((await desk.gatekeeper.admit(GET, CURL)).allowed)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(admit)
            await someone.reached.wait()
            await anyio.wait_all_tasks_blocked()
            someone.after.set()

    assert let == [True] * 5
    assert len(someone.asked) == 1


async def test_yes_to_one_time_is_for_one_time(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes(), yes()]) as desk:
        await desk.gatekeeper.admit(GET, CURL)
        await desk.gatekeeper.admit(GET, CURL)

        assert len(desk.someone.asked) == 2


async def test_answer_that_came_too_late_is_for_the_next_try():
    """A client that gave up asks again, and has the answer; a third time it is asked anew."""
    questions = Answering(asking.yes(), asking.no())
    questions.after = anyio.Event()
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=60.0)
    question = asking.question()
    async with asker.running():
        with anyio.move_on_after(0.01):
            await asker.ask(question)
        questions.after.set()
        await anyio.wait_all_tasks_blocked()
        again = await asker.ask(question)
        third = await asker.ask(question)

    assert (again.yes, third.yes) == (True, False)
    assert questions.put_count == 2


async def test_answer_that_came_far_too_late_is_for_nobody():
    now = [0.0]
    questions = Answering(asking.yes(), asking.no())
    questions.after = anyio.Event()
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=60.0, now=lambda: now[0])
    question = asking.question()
    async with asker.running():
        with anyio.move_on_after(0.01):
            await asker.ask(question)
        questions.after.set()
        await anyio.wait_all_tasks_blocked()
        now[0] = 61.0
        assert not (await asker.ask(question)).yes


async def test_no_of_a_person_holds_for_the_run(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), answers=[no("never")]) as desk:
        found = [await desk.gatekeeper.admit(GET, CURL) for _ in range(3)]

    assert [one.allowed for one in found] == [False] * 3
    assert found[2].answered_by == "memory"
    assert len(desk.someone.asked) == 1


async def test_no_holds_for_another_query_of_the_same(tmp_path):
    """A rewrite that does the same is the same."""
    other = replace(GET, target="/v1/items?id=2")
    async with open_egress_desk(tmp_path, says("ask"), answers=[no()]) as desk:
        await desk.gatekeeper.admit(GET, CURL)
        assert not (await desk.gatekeeper.admit(other, CURL)).allowed

    assert len(desk.someone.asked) == 1


async def test_yes_for_the_session_answers_without_asking(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes("session")]) as desk:
        for _ in range(4):
            assert (await desk.gatekeeper.admit(GET, CURL)).allowed
        (grant,) = desk.grants.all()

        assert len(desk.someone.asked) == 1
        assert len(desk.bodies("approval_asked")) == 1
        assert desk.bodies("egress")[-1]["answer"]["grant"] == grant.id


async def test_wider_yes_covers_what_it_says_and_no_more(tmp_path):
    other = replace(GET, target="/v1/other/7")
    write = replace(GET, method="DELETE")
    async with open_egress_desk(
        tmp_path, says("ask"), answers=[yes("project", widened=True), no()]
    ) as desk:
        await desk.gatekeeper.admit(GET, CURL)

        assert (await desk.gatekeeper.admit(other, CURL)).allowed
        assert not (await desk.gatekeeper.admit(write, CURL)).allowed
        assert len(desk.someone.asked) == 2


async def test_rule_that_asks_each_time_asks_each_time(tmp_path):
    async with open_egress_desk(
        tmp_path, says("ask", always=True), answers=[yes("session"), yes("session")]
    ) as desk:
        await desk.gatekeeper.admit(GET, CURL)
        await desk.gatekeeper.admit(GET, CURL)

        assert len(desk.someone.asked) == 2


async def test_box_cannot_bury_a_person_in_questions(tmp_path):
    """Beyond so many that wait, the answer is no without asking."""
    someone = Waiting()
    async with (
        open_egress_desk(tmp_path, says("ask"), someone=someone) as desk,
        anyio.create_task_group() as group,
    ):
        for number in range(MOST_HELD):
            request = replace(GET, target=f"/{number}")
            group.start_soon(desk.gatekeeper.admit, request, CURL)
        await someone.reached.wait()
        await anyio.wait_all_tasks_blocked()
        more = await desk.gatekeeper.admit(TUNNEL, CURL)
        group.cancel_scope.cancel()

    assert (more.allowed, more.answered_by) == (False, "limit")


async def test_nobody_there_is_a_no_that_fills_no_record(tmp_path):
    """Asked again at once it is the same no, without another question on record."""
    async with open_egress_desk(tmp_path, says("ask"), confirmer=NobodyConfirmer()) as desk:
        found = [await desk.gatekeeper.admit(GET, CURL) for _ in range(3)]

    assert {one.answered_by for one in found} == {"nobody"}
    assert len(desk.bodies("approval_asked")) == 1


async def test_no_of_nobody_is_asked_about_again_later():
    """Somebody may be there by then."""
    now = [0.0]
    questions = Answering(asking.no(by="nobody"), asking.no(by="nobody"))
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=1.0, now=lambda: now[0])
    question = asking.question()
    async with asker.running():
        await asker.ask(question)
        await asker.ask(question)
        now[0] = AGAIN_S + 1
        await asker.ask(question)

    assert questions.put_count == 2


async def test_question_of_another_rule_is_another_question():
    questions = Answering(asking.no(), asking.yes())
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=1.0)
    first = asking.question()
    other = replace(first, decision=Decision("ask", "rule-9", "org", "because"))
    async with asker.running():
        answers = [await asker.ask(first), await asker.ask(other)]

    assert [answer.yes for answer in answers] == [False, True]


class Answering:
    """Questions that are answered from a list."""

    def __init__(self, *answers):
        self.answers = [*answers]
        self.put_count = 0
        self.after = None

    async def put(self, question):  # noqa: ARG002 - the form of Questions
        self.put_count += 1
        if self.after is not None:
            await self.after.wait()
        return self.answers.pop(0)


async def ask_many(asker, number, *, start=0):
    """Ask about so many different things; return who answered."""
    found = []
    for at in range(start, start + number):
        question = asking.question(f"GET https://a.example/{at}")
        found.append((await asker.ask(question)).by)
    return found


async def test_nobody_there_is_a_no_to_whatever_else_is_asked_at_once():
    """A box that asks for a thousand different things fills no record with it."""
    questions = Always(asking.no(by="nobody"))
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=1.0)
    async with asker.running():
        assert set(await ask_many(asker, 50)) == {"nobody"}

    assert questions.put_count == 1


async def test_questions_that_no_person_hears_are_bounded_by_the_hour():
    now = [0.0]
    questions = Always(asking.no(by="file"))
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=1.0, now=lambda: now[0])
    async with asker.running():
        first = await ask_many(asker, MOST_UNHEARD + 5)
        now[0] = 3601.0
        later = await ask_many(asker, 1, start=5000)

    assert first[-6:] == ["file", *["limit"] * 5]
    assert later == ["file"]


async def test_memory_is_bounded():
    """The oldest goes first, and is asked about anew."""
    questions = Always(asking.no(by="terminal"))
    asker = EgressAsker(questions, stands=lambda _: False, unspent_s=1.0)
    async with asker.running():
        await ask_many(asker, MOST_KEPT + 1)
        again = await ask_many(asker, 1)

    assert again == ["terminal"]
    assert len(asker._denied) == MOST_KEPT


class Always:
    """Questions that all get one answer."""

    def __init__(self, answer):
        self.answer = answer
        self.put_count = 0

    async def put(self, question):  # noqa: ARG002 - the form of Questions
        self.put_count += 1
        return self.answer
