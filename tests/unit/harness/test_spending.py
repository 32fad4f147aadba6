"""What a session may spend: what it spent before it was opened counts."""

import json
import os

import pytest

from orchestrator.egress.endpoint.budget import RunLimits
from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits
from orchestrator.errors import AuditError
from orchestrator.harness.day_count import DayCount
from orchestrator.harness.spending import Spending, cost_before_usd, left_for_box, session_stats
from orchestrator.loop.limits import Limits, Spent
from orchestrator.loop.progress import Beside
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import AssistantMessage, Text, Usage, UserMessage
from orchestrator.sessions.copying import FORK
from tests.support.loops import ToldRunner, open_loop, says
from tests.unit.loop.test_agent_loop import run

ENDED = {"tokens": 0, "usage": {"input": 20, "output": 5}, "cost_usd": "0.500000"}


def chain(tmp_path, *bodies):
    """Write a chain's lines about calls of the box, each let out and ended, and some others."""
    rows = [("session_start", {})]
    for number, body in enumerate(bodies):
        call = {"number": number, "effect": "allow", "rule": "r", "provider": "x", "model": "m"}
        rows += [("model_call_in_box", call), ("model_call_in_box_end", {"number": number, **body})]
    path = tmp_path / "chain.jsonl"
    lines = [json.dumps({"type": kind, "body": body}) for kind, body in rows]
    path.write_text("\n".join([*lines, '{"type": "model_call_in_box_end", "bo']))
    return path


def answered(store, tokens, cost):
    message = AssistantMessage((Text("a"),), "end_turn", Usage(input=tokens), "x/m")
    store.append("message", {**encode_message(message), "cost_usd": cost})


def test_turns_other_calls_and_the_box_all_count(tmp_path):
    """On every branch; a price that is not known adds no money."""
    store = open_loop(tmp_path, says("-"), runner=ToldRunner()).store
    answered(store, 100, 1.0)
    answered(store, 50, None)
    usage = {"kind": "usage", "purpose": "summary", "model": "x/m", "usage": {"input": 7}}
    store.append("custom", {**usage, "cost_usd": 0.25})

    path = chain(tmp_path, ENDED, ENDED)

    assert cost_before_usd(store, path) == 1.0 + 0.25 + 1.0
    box = session_stats(store.tree.entries, path).purposes["box"]
    assert (box.calls, box.usage.total, box.cost_usd) == (2, 50, 1.0)


def test_chain_that_cannot_be_read_is_not_taken_for_none(tmp_path):
    """A session without one, a mere file of its entries, has no box's calls."""
    store = open_loop(tmp_path, says("-"), runner=ToldRunner()).store
    path = tmp_path / "chain.jsonl"
    path.write_bytes(b'{"type": "model_call_in_box_end", \n')

    with pytest.raises(AuditError, match="what the box used cannot be read"):
        cost_before_usd(store, path)
    path.unlink()
    assert cost_before_usd(store, path) == 0.0


@pytest.mark.parametrize(
    "line",
    [b'["model_call_in_box"]\n', b"[" * 3000 + b'"model_call_in_box"' + b"]" * 3000 + b"\n"],
    ids=["no record", "nested deep"],
)
def test_chain_with_what_is_no_record_is_told_as_one_that_cannot_be_read(tmp_path, line):
    """And ends nothing as a bug of ours."""
    path = tmp_path / "chain.jsonl"
    path.write_bytes(line)

    with pytest.raises(AuditError, match="what the box used cannot be read"):
        session_stats([], path)


def test_pipe_in_the_place_of_a_chain_is_not_waited_for(tmp_path):
    """Nobody would ever write to it."""
    path = tmp_path / "chain.jsonl"
    os.mkfifo(path)

    with pytest.raises(AuditError, match="got a named pipe"):
        session_stats([], path)


def test_copy_begins_anew(tmp_path):
    """What it has from its origin was spent there, and counts to the origin's day."""
    store = open_loop(tmp_path, says("-"), runner=ToldRunner()).store
    answered(store, 100, 1.0)
    store.append("custom", {"kind": FORK})
    answered(store, 3, 0.5)

    assert cost_before_usd(store, chain(tmp_path)) == 0.5


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(tokens=None), RunLimits()),
        (Limits(tokens=100, cost_usd=5.0), RunLimits(90, 3.0)),
        (Limits(tokens=5, cost_usd=1.0), RunLimits(0, 0.0)),
        (Limits(tokens=100, asked_tokens=70, asked_cost_usd=1.0), RunLimits(50, 0.5)),
        (Limits(None, 99, asked_tokens=29, asked_used_tokens=5), RunLimits(4)),
        (Limits(None, None, asked_cost_usd=2.0, asked_used_cost_usd=3.0), RunLimits(None, 0.0)),
        (Limits(tokens=None, cost_usd_per_day=9.0), RunLimits(cost_usd_per_day=9.0)),
    ],
)
def test_box_may_take_what_is_left_of_the_session(limits, left):
    """Of the run, of the command that a flag limits, of the session: whichever is least."""
    used = Spent(tokens=10, cost_usd=2.0, asked_tokens=20, asked_cost_usd=0.5)
    assert left_for_box(limits, used) == left


def test_loop_and_box_spend_of_one_amount_and_each_thing_said_has_its_tokens(tmp_path):
    """Between two the box has what the last one left, so that no run comes to more than its limit."""
    limits = Limits(tokens=100, cost_usd=3.0)
    box = [Beside(Usage(5), 0.5, 0.5)]
    day = DayCount(DayLedger(tmp_path / "day"), None, lambda _: None)
    spending = Spending(limits, 1.0, day, beside=lambda: box[0])
    found = [left_for_box(limits, spending.used())]

    def answer(_):
        found.append(left_for_box(limits, spending.used()))
        return says("done", usage=Usage(input=30))

    opened = open_loop(
        tmp_path,
        answer,
        answer,
        runner=ToldRunner(),
        limits=limits,
        beside=spending.beside,
        prices={"input_price": 10_000.0},
        cost_before_usd=1.0,
    )
    spending.loop = opened.loop
    run(opened)
    box[0] = Beside(Usage(25), 0.75, 0.75)
    found.append(left_for_box(limits, spending.used()))
    opened.loop._transcript.add(UserMessage((Text("go on"),)))
    run(opened)
    found.append(left_for_box(limits, spending.used()))

    assert [left.tokens for left in found] == [95, 100, 50, 100, 70]
    assert [left.cost_usd for left in found] == pytest.approx([1.5, 1.5, 0.95, 0.95, 0.65])


@pytest.mark.parametrize(
    ("limits", "today", "used_up"),
    [
        (Limits(), 0.0, False),
        (Limits(steps=1, wall_time_s=1.0), 0.0, False),
        (Limits(asked_cost_usd=0.0), 0.0, True),
        (Limits(asked_tokens=9, asked_used_tokens=9), 0.0, True),
        (Limits(tokens=1), 0.0, False),
        (Limits(cost_usd=2.0), 0.0, True),
        (Limits(tokens=1, cost_usd=2.01, asked_tokens=1, asked_cost_usd=0.01), 0.0, False),
        (Limits(cost_usd_per_day=3.0), 2.9, False),
        (Limits(cost_usd_per_day=3.0), 3.0, True),
    ],
)
def test_nothing_is_asked_beside_a_run_once_a_limit_is_met(tmp_path, limits, today, used_up):
    """Before the first run, and between runs; a run looks itself, and concludes."""
    ledger = DayLedger(tmp_path / "day")
    ledger.take(0, today, DayLimits())
    day = DayCount(ledger, limits.cost_usd_per_day, lambda _: None)
    spending = Spending(limits, 2.0, day)
    asked = []
    opened = open_loop(
        tmp_path,
        lambda _: asked.append(spending.is_used_up()) or says("done"),
        runner=ToldRunner(),
        limits=Limits(tokens=None),
        today=day.today,
        cost_before_usd=spending.cost_before_usd,
    )

    assert spending.is_used_up() is used_up
    spending.loop = opened.loop
    run(opened)
    assert asked == [limits.forbids_any_call]
    assert spending.is_used_up() is used_up
