"""A model that gives way to the next in an outage."""

import anyio
import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.fallback import OUTAGE, Fallback
from orchestrator.schema.message import AssistantMessage, Text

ASK = Prompt("", ())


class Model:
    """Answers its name, or fails with the kinds it is given."""

    def __init__(self, name, *kinds):
        self.info = ModelInfo("x", name, 1000, 100)
        self.kinds = list(kinds)

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        if self.kinds:
            raise ModelError(self.info.name, kind=self.kinds.pop(0))
        return AssistantMessage((Text(self.info.name),), "end_turn")


def chain(first, *others, told):
    def opener(model):
        async def give():
            return model

        return give

    told_of = lambda info, error: told.append((info.name, error.message))  # noqa: E731
    return Fallback(first, [opener(model) for model in others], on_fallback=told_of)


def ask(model):
    return anyio.run(lambda: model.complete(ASK, on_delta=lambda _: None)).text


@pytest.mark.parametrize("kind", sorted(OUTAGE))
def test_outage_is_answered_by_the_next_and_told(kind):
    told = []
    model = chain(Model("a", kind), Model("b"), told=told)

    assert ask(model) == "b"
    assert told == [("b", "a")]
    assert model.info.name == "b"


def test_it_stays_where_it_went():
    """Going back and forth would lose every prompt cache."""
    model = chain(Model("a", "server"), Model("b"), told=[])

    assert [ask(model), ask(model)] == ["b", "b"]


def test_each_is_asked_once_in_order_and_the_last_failure_is_raised():
    told = []
    model = chain(Model("a", "server"), Model("b", "network"), Model("c", "quota"), told=told)

    with pytest.raises(ModelError, match="c"):
        ask(model)
    assert [name for name, _ in told] == ["b", "c"]


@pytest.mark.parametrize("kind", ["auth", "bad_request", "overflow"])
def test_what_is_no_outage_is_raised_at_once(kind):
    """Another model would only hide a wrong key, and an overflow asks for a shorter request."""
    told = []
    with pytest.raises(ModelError, match="a"):
        ask(chain(Model("a", kind), Model("b"), told=told))

    assert told == []
