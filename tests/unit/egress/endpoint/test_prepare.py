"""From a request to what leaves."""

import json

import pytest

from orchestrator.egress.endpoint.prepare import prepare
from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import find_route
from orchestrator.policy.box_models import BoxModels
from tests.support.endpoints import provider

CHAT = find_route("POST", "/chat/completions", {})
COUNT = find_route("POST", "/v1/messages/count_tokens", {})
EMBED = find_route("POST", "/v1/embeddings", {})
ONE = provider("one", "http://x", "openai-chat", "anthropic")


def ready(data, route=CHAT, **terms):
    rules = BoxModels(in_box="allow", allow=(("*",),), **terms)
    return prepare(json.dumps(data).encode(), route, [ONE], terms=rules)


def test_everything_that_is_changed_is_told():
    """A record says what was made of a request."""
    found = ready(
        {"model": "small", "max_tokens": 900, "tools": [{"type": "web_search"}]},
        map=(("small", "one/big"),),
        max_tokens=100,
    )

    assert json.loads(found.content) == {"model": "big", "max_tokens": 100}
    assert found.changes == ("model", "hosted tools", "max_tokens")


def test_amount_is_the_most_that_a_call_may_take():
    """Prompt by its bytes, answer by its limit, times the number of answers."""
    found = ready({"model": "m", "max_tokens": 100, "n": 3})
    unbounded = ready({"model": "m"})

    assert found.amount.tokens == found.input_estimate + 300
    assert unbounded.output_most == 1000
    assert found.amount.cost_usd == pytest.approx((found.input_estimate * 1.25 + 3000) / 1e6)


def test_counting_takes_nothing_and_embedding_its_input():
    """No answer, no output."""
    assert ready({"model": "m"}, COUNT).amount.tokens == 0
    assert ready({"model": "m", "input": "x"}, EMBED).output_most == 0
    assert ready({"model": "m", "input": "x"}, EMBED).amount.tokens > 0


@pytest.mark.parametrize("extra", [{"service_tier": "priority"}, {"speed": "fast"}])
def test_dearer_service_is_refused_where_money_is_counted(extra):
    """Its price is in no table."""
    with pytest.raises(RefusedCallError, match="its price is not known here"):
        ready({"model": "m"} | extra, cost_usd=5)
    assert ready({"model": "m"} | extra).content


def test_unknown_price_is_no_matter_where_money_is_not_counted():
    """Or where nothing is bought."""
    unknown = provider("p", "http://x", "anthropic", price=lambda _: Price())
    raw = b'{"model": "m"}'
    rules = BoxModels(in_box="allow", allow=(("*",),), cost_usd_per_day=5)

    assert prepare(raw, COUNT, [unknown], terms=rules).amount.tokens == 0


def test_refusal_knows_what_was_asked_for():
    """So that a record and a person's screen can name it."""
    with pytest.raises(RefusedCallError) as caught:
        ready({"model": "m", "mcp_servers": [{"url": "https://x.example"}]})

    assert caught.value.asked == "m"


def test_addresses_pass_where_policy_lets_the_provider_fetch():
    """The switch is the owner's."""
    data = {"model": "m", "tools": [{"type": "web_search"}]}

    assert json.loads(ready(data, remote="allow").content) == data
