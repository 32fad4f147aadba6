"""Calls that are no turn: recorded, priced, counted."""

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.harness.models.meter import Meter, Metered
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.message import AssistantMessage, Text, Usage


class Kept:
    """Stands for chain and session file: keeps what is appended."""

    def __init__(self):
        self.rows = []

    def append(self, kind, body):
        self.rows.append((kind, dict(body)))


class Model:
    def __init__(self, price):
        self.info = ModelInfo("x", "m", 1000, 100, price, price)

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        return AssistantMessage((Text("short"),), "end_turn", Usage(input=600, output=400))


def metered(price):
    audit, store = Kept(), Kept()
    meter = Meter(audit, store, skill=lambda: "review")
    model = Metered(lambda: Model(price), meter)
    anyio.run(lambda: model.complete(Prompt("", (), purpose="summary"), on_delta=lambda _: None))
    return meter, audit.rows, store.rows


def test_call_is_in_chain_and_session_with_its_cost():
    _, chain, session = metered(1000.0)

    usage = {"input": 600, "output": 400, "cache_read": 0, "cache_write": 0}
    facts = {"model": "x/m", "purpose": "summary", "usage": usage}
    assert chain == [("model_call", facts)]
    assert session == [
        ("custom", {"kind": "usage", **facts, "cost_usd": 1.0, "saved_usd": 0.0, "skill": "review"})
    ]


def test_call_counts_to_the_limits_of_the_run():
    meter, _, _ = metered(1000.0)

    beside = meter.beside()
    assert (beside.usage.total, beside.cost_usd, beside.known_cost_usd) == (1000, 1.0, 1.0)


def test_unknown_price_makes_the_sum_unknown():
    """A sum without it would be a lie."""
    meter, _, _ = metered(None)

    assert (meter.beside().cost_usd, meter.beside().known_cost_usd) == (None, 0.0)


def test_call_where_nothing_may_be_spent_is_not_made():
    """A choice of a skill comes before the loop looks at its limits."""
    meter = Meter(Kept(), Kept(), shut=lambda: True)
    asked = []

    class Counting(Model):
        async def complete(self, prompt, *, on_delta):
            asked.append(prompt)
            return await super().complete(prompt, on_delta=on_delta)

    model = Metered(lambda: Counting(1.0), meter)
    with pytest.raises(ModelError, match="used up"):
        anyio.run(lambda: model.complete(Prompt("", ()), on_delta=lambda _: None))
    assert asked == []
    within = Metered(lambda: Counting(1.0), meter, within_run=True)
    anyio.run(lambda: within.complete(Prompt("", ()), on_delta=lambda _: None))
    assert len(asked) == 1
