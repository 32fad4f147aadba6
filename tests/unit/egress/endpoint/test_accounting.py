"""What a call used."""

import pytest

from orchestrator.egress.endpoint.accounting import NOTHING, counted
from orchestrator.egress.endpoint.meter import Meter
from orchestrator.egress.endpoint.prepare import prepare
from orchestrator.egress.endpoint.relay import Relayed
from orchestrator.egress.endpoint.routes import find_route
from orchestrator.schema.message import Usage
from tests.support.endpoints import ANY, provider

MESSAGES = find_route("POST", "/v1/messages", {})
READY = prepare(
    b'{"model": "m", "max_tokens": 40}',
    MESSAGES,
    [provider("p", "http://x", "anthropic")],
    terms=ANY,
)


def metered(*pieces, events=True):
    meter = Meter("anthropic", events=events)
    for piece in pieces:
        meter.feed(piece)
    return meter


def test_what_the_provider_reported_counts():
    """At the end of a whole answer."""
    meter = metered(b'data: {"usage":{"input_tokens":5,"output_tokens":6}}\n')
    found = counted(Relayed(sent=True, status=200, meter=meter, complete=True), READY)

    assert (found.usage, found.estimated) == (Usage(5, 6), False)
    assert found.cost_usd == 65e-6


def test_cache_for_an_hour_is_counted_dearer():
    """As the vendor bills it."""
    meter = metered(
        b'data: {"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":100,'
        b'"cache_creation":{"ephemeral_1h_input_tokens":100}}}\n'
    )
    found = counted(Relayed(sent=True, status=200, meter=meter, complete=True), READY)

    assert found.cost_usd == pytest.approx(200e-6)


def test_answer_that_broke_off_is_counted_by_what_had_passed():
    """Never by less than was reported, never by more than was held."""
    meter = metered(b'data: {"usage":{"input_tokens":5,"output_tokens":1}}\n', b"data: {}\n" * 20)
    much = metered(b"data: {}\n" * 500)

    broken = counted(Relayed(sent=True, status=200, meter=meter), READY)
    unreported = counted(Relayed(sent=True, status=200, meter=much, complete=True), READY)

    assert (broken.usage, broken.estimated) == (Usage(5, 21), True)
    assert (unreported.usage, unreported.estimated) == (Usage(READY.input_estimate, 40), True)


def test_count_of_zero_is_no_count():
    """A server that reports nothing used is not believed."""
    meter = metered(b'data: {"usage":{"input_tokens":0,"output_tokens":0}}\n')
    found = counted(Relayed(sent=True, status=200, meter=meter, complete=True), READY)

    assert found.estimated
    assert found.usage.input == READY.input_estimate


def test_request_that_was_sent_and_not_answered_counts_its_prompt():
    """The provider may have read it."""
    assert counted(Relayed(sent=True), READY).usage == Usage(READY.input_estimate)


def test_refusals_of_the_provider_and_calls_that_never_left_cost_nothing():
    """Nor does a call that takes no tokens."""
    assert counted(Relayed(sent=True, status=429), READY) is NOTHING
    assert counted(Relayed(), READY) is NOTHING
    assert counted(Relayed(sent=True, status=200), None) is NOTHING
    assert NOTHING.outcome.usage is None
