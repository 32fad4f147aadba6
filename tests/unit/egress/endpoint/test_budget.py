"""A session's account."""

import anyio
import pytest

from orchestrator.egress.endpoint.budget import Amount, BoxBudget, RunLimits
from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.message import Usage


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def budget(tmp_path, *, clock=None, run=None, **terms):
    rules = BoxModels(in_box="allow", allow=(("*",),), **terms)
    day = DayLedger(tmp_path / "use", day=lambda: "2026-11-30")
    left = run or RunLimits()
    return BoxBudget(lambda: rules, day=day, monotonic=clock or Clock(), run=lambda: left)


def test_rate_says_when_the_next_request_may_come(tmp_path):
    """Any minute holds so many; the oldest one's end is the wait."""
    clock = Clock()
    account = budget(tmp_path, clock=clock, requests_per_minute=2)
    account.admit()
    clock.now = 20
    account.admit()
    with pytest.raises(RefusedCallError) as caught:
        account.admit()
    assert (caught.value.status, caught.value.retry_after_s) == (429, 40)
    clock.now = 60
    account.admit()


@pytest.mark.parametrize("key", ["tokens", "cost_usd"])
def test_what_is_held_and_what_is_spent_are_told_apart(tmp_path, key):
    """Held comes back: try again. Spent does not: end."""

    async def run():
        account = budget(tmp_path, **{key: 100})
        hold = await account.reserve(Amount(60, 60.0))
        with pytest.raises(RefusedCallError) as held:
            await account.reserve(Amount(60, 60.0))
        await account.settle(hold, Usage(50), 50.0)
        with pytest.raises(RefusedCallError) as spent:
            await account.reserve(Amount(60, 60.0))
        await account.settle(await account.reserve(Amount(50, 50.0)), Usage(1), 1.0)
        return held.value, spent.value, account.spent

    held, spent, total = anyio.run(run)

    assert (held.status, held.rule) == (429, f"models.box.{key}")
    assert (spent.status, spent.rule) == (403, f"models.box.{key}")
    assert (total.usage, total.cost_usd, total.requests) == (Usage(51), 51.0, 2)


@pytest.mark.parametrize(
    ("run", "rule"),
    [(RunLimits(tokens=50), "limits.tokens"), (RunLimits(cost_usd=0.5), "limits.cost_usd")],
)
def test_box_alone_cannot_pass_what_the_run_may_take(tmp_path, run, rule):
    """A wrapped agent has no loop of ours that would stop; a price that is not known is no sum."""

    async def scene():
        account = budget(tmp_path, run=run)
        with pytest.raises(RefusedCallError) as caught:
            await account.reserve(Amount(60, 0.6))
        await account.reserve(Amount(40, None))
        return caught.value

    assert anyio.run(scene).rule == rule


@pytest.mark.parametrize(
    ("less", "rule"),
    [(RunLimits(tokens=50), "limits.tokens"), (RunLimits(cost_usd=0.5), "limits.cost_usd")],
)
def test_what_is_left_of_the_run_is_asked_anew_for_each_call(tmp_path, less, rule):
    """The loop spends of the same meanwhile, and a run that begins has all of it again."""
    left = [RunLimits(60, 0.6)]
    rules = BoxModels(in_box="allow", allow=(("*",),))
    day = DayLedger(tmp_path / "use")

    async def scene():
        account = BoxBudget(lambda: rules, day=day, monotonic=Clock(), run=lambda: left[0])
        await account.settle(await account.reserve(Amount(60, 0.6)), Usage(60), 0.6)
        left[0] = less
        with pytest.raises(RefusedCallError) as caught:
            await account.reserve(Amount(60, 0.6))
        left[0] = RunLimits(60, 0.6)
        hold = await account.reserve(Amount(40, 0.4))
        with pytest.raises(RefusedCallError) as held:
            await account.reserve(Amount(40, 0.4))
        await account.settle(hold, Usage(40), 0.4)
        return caught.value, held.value

    spent, held = anyio.run(scene)

    assert (spent.status, spent.rule) == (403, rule)
    assert held.status == 429, "what a call beside it holds is not left either"


def test_count_that_breaks_before_a_call_is_over_keeps_the_end(tmp_path):
    """What cannot be put right stays too high; the session's own count goes on."""

    async def run():
        account = budget(tmp_path, tokens_per_day=100)
        hold = await account.reserve(Amount(80, 0.0))
        (tmp_path / "use").write_bytes(b"damaged")
        await account.settle(hold, Usage(5), 0.0)
        return account.spent

    assert anyio.run(run).usage == Usage(5)


def whole_budget(tmp_path, most):
    """Return an account that counts to the day of all sessions, and that day."""
    whole = DayLedger(tmp_path / "whole", day=lambda: "2026-11-30")
    rules = BoxModels(in_box="allow", allow=(("*",),), tokens_per_day=1000)
    day = DayLedger(tmp_path / "use", day=lambda: "2026-11-30")
    left = RunLimits(cost_usd_per_day=most)
    account = BoxBudget(lambda: rules, day=day, monotonic=Clock(), run=lambda: left, whole=whole)
    return account, whole, day


def test_box_counts_to_the_day_of_all_sessions(tmp_path):
    """Held before a call leaves and put right; what others spent leaves less room."""

    async def scene():
        account, whole, day = whole_budget(tmp_path, 1.0)
        hold = await account.reserve(Amount(60, 0.6))
        held = whole.used().cost_usd
        await account.settle(hold, Usage(50), 0.5)
        whole.take(0, 0.4, DayLimits())
        with pytest.raises(RefusedCallError) as caught:
            await account.reserve(Amount(60, 0.2))
        return held, whole.used().cost_usd, caught.value, day.used().tokens

    held, used, refused, tokens = anyio.run(scene)

    assert (held, used) == (0.6, pytest.approx(0.9))
    assert (refused.status, refused.rule) == (403, "limits.cost_usd_per_day")
    assert "midnight UTC" in str(refused)
    assert tokens == 50, "what was refused is held by no other count"


@pytest.mark.parametrize(("most", "refused"), [(1.0, True), (None, False)])
def test_day_that_cannot_be_counted_refuses_where_it_is_limited(tmp_path, most, refused):
    """Nothing hangs on it where it is not."""
    account, _, _ = whole_budget(tmp_path, most)
    (tmp_path / "whole").write_bytes(b"damaged")

    async def scene():
        hold = await account.reserve(Amount(60, 0.6))
        await account.settle(hold, Usage(50), 0.5)

    if not refused:
        anyio.run(scene)
        return
    with pytest.raises(RefusedCallError, match="damaged") as caught:
        anyio.run(scene)
    assert caught.value.rule == "limits.cost_usd_per_day"


def test_settling_twice_counts_once(tmp_path):
    """However a call ends."""

    async def run():
        account = budget(tmp_path)
        hold = await account.reserve(Amount(10, None))
        await account.settle(hold, Usage(5), None)
        await account.settle(hold, Usage(5), None)
        return account.spent

    spent = anyio.run(run)
    assert (spent.requests, spent.usage, spent.cost_usd) == (1, Usage(5), None)


def test_day_is_shared_by_sessions_and_put_right_afterwards(tmp_path):
    """What one session may take is counted before it leaves."""

    async def run():
        one, two = (budget(tmp_path, tokens_per_day=100) for _ in range(2))
        hold = await one.reserve(Amount(80, 0.0))
        with pytest.raises(RefusedCallError) as caught:
            await two.reserve(Amount(80, 0.0))
        await one.settle(hold, Usage(10), 0.0)
        await two.reserve(Amount(80, 0.0))
        return caught.value

    refused = anyio.run(run)
    assert (refused.status, refused.rule) == (403, "models.box.tokens_per_day")
    assert "midnight UTC" in refused.message


def test_day_that_has_not_begun_is_named_with_its_file(tmp_path):
    """A clock was wrong once: midnight changes nothing. Where the file lies is not told the box."""
    DayLedger(tmp_path / "use", day=lambda: "9999-01-01").take(80, 0.0, DayLimits())

    async def run():
        with pytest.raises(RefusedCallError) as caught:
            await budget(tmp_path, tokens_per_day=100).reserve(Amount(80, 0.0))
        return caught.value.message

    said = anyio.run(run)
    assert "is of 9999-01-01, which has not begun" in said
    assert "the day in use right" in said
    assert "midnight" not in said
    assert str(tmp_path) not in said


def test_day_in_money_names_its_key(tmp_path):
    """The owner finds what to change."""

    async def run():
        account = budget(tmp_path, cost_usd_per_day=1)
        with pytest.raises(RefusedCallError) as caught:
            await account.reserve(Amount(1, 2.0))
        return caught.value

    assert anyio.run(run).rule == "models.box.cost_usd_per_day"


def test_day_that_cannot_be_counted_refuses_and_holds_nothing(tmp_path):
    """The count fails closed, and the session's own is as before."""
    (tmp_path / "use").write_bytes(b"damaged")

    async def run():
        account = budget(tmp_path, tokens_per_day=100, tokens=100)
        errors = []
        for _ in range(2):
            with pytest.raises(RefusedCallError) as caught:
                await account.reserve(Amount(80, 0.0))
            errors.append(caught.value)
        return errors

    assert [error.status for error in anyio.run(run)] == [403, 403]


def test_calls_of_unseen_size_go_one_after_the_other(tmp_path):
    """However much is left; others go beside them, and the next may once the first is over."""

    async def run():
        account = budget(tmp_path, tokens=1000)
        unseen = Amount(10, 0.0, alone=True)
        first = await account.reserve(unseen)
        await account.settle(await account.reserve(Amount(10)), Usage(1), 0.0)
        with pytest.raises(RefusedCallError) as caught:
            await account.reserve(unseen)
        await account.settle(first, Usage(1), 0.0)
        await account.settle(await account.reserve(unseen), Usage(1), 0.0)
        return caught.value

    refused = anyio.run(run)

    assert (refused.status, refused.rule) == (429, "models.box.remote")
    assert refused.retry_after_s
