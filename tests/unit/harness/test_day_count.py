"""What all sessions spend in a day: counted before a call leaves, put right after, closed where unknown."""

import multiprocessing
import os
import signal

import anyio
import pytest

from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits
from orchestrator.errors import ConfigError, ModelError
from orchestrator.harness.day_count import DayCount, prompt_cost
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.message import AssistantMessage, Text, Usage, UserMessage

PROMPT = Prompt("be brief", (UserMessage((Text("word " * 400),)),))
INFO = ModelInfo("x", "m", 1000, 100, 1000.0, 2000.0)
HELD = prompt_cost(PROMPT, INFO)
COST = 0.6 + 0.8
"""Of 600 tokens in and 400 out."""


class Model:
    """Answers, fails or hangs; sees what is counted while it is asked."""

    def __init__(self, ledger, *, info=INFO, does=None):
        self.info, self._ledger, self._does = info, ledger, does
        self.seen = []

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        self.seen.append(self._ledger.used().cost_usd)
        if self._does is not None:
            await self._does()
        return AssistantMessage((Text("short"),), "end_turn", Usage(input=600, output=400))


@pytest.fixture
def days():
    """The day is the list's last."""
    return ["2026-11-30"]


@pytest.fixture
def ledger(tmp_path, days):
    return DayLedger(tmp_path / "state" / "cost", day=lambda: days[-1])


def opened(ledger, limit=10.0, told=None):
    return DayCount(ledger, limit, (told if told is not None else []).append)


def ask(count, model):
    counted = count.counted(model)
    return anyio.run(lambda: counted.complete(PROMPT, on_delta=lambda _: None))


def test_prompt_is_counted_before_the_request_leaves_and_put_right_by_the_report(ledger):
    model = Model(ledger)
    count = opened(ledger)
    ask(count, model)

    assert HELD > 0.3
    assert model.seen == [pytest.approx(HELD)]
    assert count.today() == pytest.approx(COST)


@pytest.mark.parametrize(("limit", "times"), [(10.0, 1), (None, 0)])
def test_count_for_a_day_that_has_not_begun_is_told_once_with_file_and_day(
    ledger, days, limit, times
):
    """By a session that it limits, at its start; a day that has begun meanwhile is none such."""
    told = []
    ledger.take(0, 2.5, DayLimits())
    opened(ledger, limit, told).check()
    assert told == []

    days.append("2026-11-29")
    count = opened(ledger, limit, told)
    count.check()
    assert count.today() == count.today() == 2.5
    assert len(told) == times
    assert all(f"{ledger.path} counts for 2026-11-30" in text for text in told)


def test_two_sessions_side_by_side_see_what_the_other_spends(tmp_path, ledger, days):
    """Also what it is asking for right now."""
    one = opened(ledger)
    two = opened(DayLedger(tmp_path / "state" / "cost", day=lambda: days[-1]))
    seen = []

    async def look():
        seen.append(two.today())

    ask(one, Model(ledger, does=look))
    ask(two, Model(ledger))

    assert seen == [pytest.approx(HELD)]
    assert one.today() == two.today() == pytest.approx(2 * COST)


def test_call_that_failed_costs_nothing_and_one_that_was_stopped_its_prompt(ledger):
    count = opened(ledger)

    async def fails():
        raise ModelError("down", kind="server")

    with pytest.raises(ModelError):
        ask(count, Model(ledger, does=fails))
    assert count.today() == 0

    async def stopped():
        with anyio.CancelScope() as scope:

            async def stop():
                scope.cancel()
                await anyio.sleep_forever()

            model = count.counted(Model(ledger, does=stop))
            await model.complete(PROMPT, on_delta=lambda _: None)

    anyio.run(stopped)
    assert count.today() == pytest.approx(HELD)


def _hang(path, asked):
    ledger = DayLedger(path, day=lambda: "2026-11-30")

    async def tell():
        asked.set()
        await anyio.sleep_forever()

    ask(opened(ledger), Model(ledger, does=tell))


def test_session_that_is_killed_amid_a_call_has_not_spent_nothing(tmp_path, ledger):
    """And its lock and half a count are left to nobody."""
    context = multiprocessing.get_context("spawn")
    asked = context.Event()
    victim = context.Process(target=_hang, args=(tmp_path / "state" / "cost", asked))
    victim.start()
    try:
        assert asked.wait(60)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.join(60)

    count = opened(ledger)
    assert count.today() == pytest.approx(HELD)
    ask(count, Model(ledger))
    assert count.today() == pytest.approx(HELD + COST)


def test_midnight_begins_anew_and_a_late_end_takes_nothing_from_the_new_day(ledger, days):
    count = opened(ledger)
    ask(count, Model(ledger))

    async def strikes():
        days.append("2026-12-01")

    ask(count, Model(ledger, does=strikes))
    assert count.today() == 0
    ask(count, Model(ledger))
    assert count.today() == pytest.approx(COST)


def damaged(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{")


def unreadable(path):
    path.mkdir(parents=True)


def unwritable(path):
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.write_bytes(b"a file where the directory should be")


@pytest.mark.parametrize("harm", [damaged, unreadable, unwritable])
def test_day_that_cannot_be_counted_lets_no_model_be_asked_under_a_limit(tmp_path, ledger, harm):
    """Nobody knows what was spent; the message names the file and what to do."""
    harm(tmp_path / "state" / "cost")
    count, model = opened(ledger), Model(ledger)
    for act in (count.check, count.today, lambda: ask(count, model)):
        with pytest.raises(ConfigError, match=r"limits\.cost_usd_per_day: .*state") as caught:
            act()
        assert caught.value.hint
    assert model.seen == []


def test_without_a_limit_the_person_is_told_once_and_work_goes_on(tmp_path, ledger):
    """Nothing of this session hangs on the count."""
    damaged(tmp_path / "state" / "cost")
    told = []
    count = opened(ledger, None, told)
    count.check()

    class Blind(Model):
        async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
            return AssistantMessage((Text("short"),), "end_turn", Usage(input=600, output=400))

    assert ask(count, Blind(ledger)).text == "short"
    assert (count.today(), len(told)) == (0.0, 1)
    assert "damaged" in told[0]


def test_sessions_without_a_limit_count_for_those_with_one(ledger):
    ask(opened(ledger, None), Model(ledger))

    assert opened(ledger).today() == pytest.approx(COST)


def test_count_that_breaks_before_a_call_is_over_is_owed(tmp_path, ledger):
    """It is put down with the next call."""
    count, path = opened(ledger), tmp_path / "state" / "cost"

    async def breaks():
        path.rename(path.with_name("aside"))
        path.mkdir()

    ask(count, Model(ledger, does=breaks))
    path.rmdir()
    path.with_name("aside").rename(path)
    assert ledger.used().cost_usd == pytest.approx(HELD)
    assert count.today() == pytest.approx(COST)
    ask(count, Model(ledger))
    assert ledger.used().cost_usd == count.today() == pytest.approx(2 * COST)


def test_model_without_a_known_price_counts_nothing(ledger):
    """That its cost is not limited is told where the session begins."""
    ask(opened(ledger), Model(ledger, info=ModelInfo("x", "m", 1000, 100)))

    assert ledger.take(0, 0.0, DayLimits())[1] is None
    assert ledger.used().cost_usd == 0
