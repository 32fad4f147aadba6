"""Models whose cost no limit holds."""

from orchestrator.harness.models.unpriced import UnpricedModels
from orchestrator.loop.limits import Limits
from orchestrator.model.client import ModelInfo


def info(name, price):
    return ModelInfo("own", name, 1000, 100, price)


def test_each_is_named_once_with_the_limits_that_miss_it():
    """One that costs nothing is priced."""
    events = []
    unpriced = UnpricedModels(Limits(cost_usd=1.0, asked_cost_usd=0.5), events.append)

    for _ in range(2):
        unpriced.tell([info("a", None), info("free", 0.0), info("b", None)])

    assert [(event.where, event.message.split()[3]) for event in events] == [
        ("--max-budget-usd, limits.cost_usd", "own/a"),
        ("--max-budget-usd, limits.cost_usd", "own/b"),
    ]


def test_nothing_is_told_where_no_money_is_limited():
    events = []
    UnpricedModels(Limits(), events.append).tell([info("a", None)])
    assert events == []
