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


def test_nothing_is_kept_at_the_provider_and_the_record_says_so():
    """Neither taken from its store nor left there; bytes of a client that does so stay as they are."""
    responses = find_route("POST", "/v1/responses", {})
    one = provider("one", "http://x", "openai-responses")
    rules = BoxModels(in_box="allow", allow=(("*",),))

    def made(raw):
        return prepare(raw, responses, [one], terms=rules)

    found = made(b'{"model": "m", "input": "x"}')
    assert json.loads(found.content)["store"] is False
    assert found.changes == ("store",)
    raw = b'{"model":"m", "store":false, "include":["reasoning.encrypted_content"], "input":"x"}'
    assert (made(raw).content, made(raw).changes) == (raw, ())
    with pytest.raises(RefusedCallError, match="previous_response_id"):
        made(b'{"model": "m", "previous_response_id": "resp_1"}')


@pytest.mark.parametrize(
    ("data", "alone"),
    [
        ({"tools": [{"type": "web_search"}]}, True),
        ({"messages": [{"content": [{"type": "file", "file": {"file_id": "f"}}]}]}, True),
        ({"messages": [{"content": [{"type": "file", "file": {"file_data": "JVBE"}}]}]}, False),
    ],
)
def test_call_whose_body_does_not_show_its_size_holds_a_whole_window(data, alone):
    """What the provider adds is billed; several rounds of it go one call after the other."""
    found = ready({"model": "m", "max_tokens": 10} | data, remote="allow")

    assert found.amount.tokens == 200_000 + 10
    assert found.amount.alone is alone
    assert not ready({"model": "m"}, remote="allow").amount.alone


def test_call_of_unknown_size_and_window_is_refused():
    """There is nothing to hold."""
    unknown = provider("p", "http://x", "anthropic", price=lambda _: Price(1, 1))
    rules = BoxModels(in_box="allow", allow=(("*",),), remote="allow")
    raw = b'{"model": "m", "container": "c"}'

    with pytest.raises(RefusedCallError, match=r"providers\.p\.models\.m\.context_window"):
        prepare(raw, find_route("POST", "/v1/messages", {}), [unknown], terms=rules)


def test_addresses_pass_where_policy_lets_the_provider_fetch():
    """The switch is the owner's."""
    data = {"model": "m", "tools": [{"type": "web_search"}]}

    assert json.loads(ready(data, remote="allow").content) == data
