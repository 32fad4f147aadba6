"""Usage read beside an answer's way."""

import json

import pytest

from orchestrator.egress.endpoint.meter import Meter
from orchestrator.schema.message import Usage

STREAM = (
    b'event: message_start\r\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5,'
    b'"output_tokens":1}}}\r\n\r\n'
    b'event: content_block_delta\ndata: {"delta":{"text":"he says \\"usage\\""}}\n\n'
    b'event: message_delta\ndata: {"usage":{"output_tokens":9}}\n\n'
)


@pytest.mark.parametrize("size", [1, 2, 7, 50, 1000])
def test_stream_in_any_pieces_gives_the_same_count(size):
    """Events are cut anywhere on the way."""
    meter = Meter("anthropic", events=True)
    for at in range(0, len(STREAM), size):
        meter.feed(STREAM[at : at + size])
    meter.finish()

    assert meter.usage == Usage(5, 9)
    assert meter.bytes == len(STREAM)
    assert meter.events == 3


def test_plain_answer_is_read_at_its_end():
    """One JSON text."""
    meter = Meter("openai", events=False)
    raw = json.dumps({"usage": {"prompt_tokens": 3, "completion_tokens": 4}}).encode()
    meter.feed(raw[:10])
    meter.feed(raw[10:])
    assert meter.usage is None
    meter.finish()

    assert meter.usage == Usage(3, 4)


def test_gemini_stream_without_events_is_a_list():
    """The last answer's count holds."""
    meter = Meter("gemini", events=False)
    rows = [{"usageMetadata": {"promptTokenCount": n}} for n in (1, 2)]
    meter.feed(json.dumps(rows).encode())
    meter.finish()

    assert meter.usage == Usage(2)


@pytest.mark.parametrize("raw", [b"not json", b'{"usage"', b"[" * 50_000])
def test_answer_that_is_not_json_has_no_count(raw):
    """What cannot be read is estimated instead."""
    meter = Meter("openai", events=False)
    meter.feed(raw)
    meter.finish()

    assert meter.usage is None
    assert meter.output_estimate == len(raw) // 3


def test_endless_event_is_skipped_and_the_next_is_read():
    """Memory is bounded, whatever a provider sends."""
    meter = Meter("openai", events=True)
    meter.feed(b"data: ")
    for _ in range(10):
        meter.feed(b"x" * 1024 * 1024)
    meter.feed(b'\ndata: {"usage":{"prompt_tokens":3}}\n')

    assert meter.usage == Usage(3)


def test_events_without_a_count_are_a_token_each_at_least():
    """A guess for what broke off."""
    meter = Meter("openai", events=True)
    meter.feed(b"data: {}\n\n" * 20)

    assert meter.usage is None
    assert meter.output_estimate == 20
