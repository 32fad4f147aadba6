"""Keys that come back in pieces."""

import base64
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.egress.endpoint.echo import Echoes, EchoScrub
from orchestrator.egress.endpoint.event_echo import EventScrub
from orchestrator.redaction.known import KnownValues

KEY = "sk-real/key+4f9a1c77d2e8b6"
PLACE = "gbx_p"
ECHOES = Echoes(KnownValues({"anthropic": KEY}), PLACE)
LEFT = 3
"""Characters of a key that may come through before it is known for one."""
FORMS = [
    KEY,
    KEY.encode().hex(),
    base64.b64encode(KEY.encode()).decode().rstrip("="),
    base64.urlsafe_b64encode(b"ab" + KEY.encode()).decode().rstrip("="),
    "".join(f"%{byte:02x}" for byte in KEY.encode()),
]


def anthropic(piece):
    delta = {"type": "text_delta", "text": piece}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def arguments(piece):
    delta = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": 1, "delta": delta}


def chat(piece):
    return {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}


def chat_call(piece):
    call = {"index": 1, "function": {"arguments": piece}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


def responses(piece):
    return {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": piece}


def gemini(piece):
    return {"candidates": [{"content": {"parts": [{"text": piece}], "role": "model"}}]}


READ = {
    anthropic: lambda event: event["delta"]["text"],
    arguments: lambda event: event["delta"]["partial_json"],
    chat: lambda event: event["choices"][0]["delta"]["content"],
    chat_call: lambda event: event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"],
    responses: lambda event: event["delta"],
    gemini: lambda event: event["candidates"][0]["content"]["parts"][0]["text"],
}
APIS = list(READ)


def raw_of(events, end="\n"):
    return b"".join(f"event: e{end}data: {json.dumps(one)}{end}{end}".encode() for one in events)


def through(raw, size=1 << 20):
    scrub, events = EchoScrub(ECHOES), EventScrub(ECHOES)
    got = b"".join(events.feed(scrub.feed(raw[at : at + size])) for at in range(0, len(raw), size))
    return got + events.feed(scrub.flush()) + events.flush()


def text_of(api, raw):
    datas = [line[5:] for line in raw.splitlines() if line.startswith(b"data:")]
    return "".join(READ[api](json.loads(data)) for data in datas)


def cut(text, places):
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(edges)]


@given(
    api=st.sampled_from(APIS),
    form=st.sampled_from(FORMS),
    places=st.lists(st.integers(0, 200), max_size=60),
    size=st.sampled_from([1, 7, 64, 1 << 20]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_key_split_over_any_events_becomes_the_placeholder(api, form, places, size, end):
    """In every API, each encoding, at any places, its bytes cut anywhere."""
    said = f"before é; {form}; after"
    raw = raw_of(map(api, cut(said, places)), end)
    got = text_of(api, through(raw, size))

    assert form[LEFT * len(form) // len(KEY) + 3 : -3] not in got
    assert got.count(PLACE) == 1
    assert got.startswith("before é; ")
    assert got.endswith("; after")


@given(
    pieces=st.lists(st.sampled_from(["s", "sk-", "sk-real/", "words ", "é", "7", '"\\', ""])),
    api=st.sampled_from(APIS),
    size=st.sampled_from([1, 5, 1 << 20]),
)
def test_everything_else_passes_byte_for_byte(pieces, api, size):
    """Beginnings of keys too that are not gone on with."""
    raw = raw_of(map(api, pieces)) + b": a comment\n\ndata: [DONE]\n\ndata: {cut"

    assert through(raw, size) == raw


@given(raw=st.binary(max_size=300) | st.text('data: "{}[],\\\r\n', max_size=200).map(str.encode))
def test_no_bytes_are_lost_of_what_is_no_stream_of_events(raw):
    """Malformed ones go through as they are."""
    assert through(raw, 3) == raw


def test_event_waits_for_nothing_without_the_beginning_of_a_key():
    """And one that begins with three characters of it does not either."""
    events = EventScrub(ECHOES)
    for piece in ("hi", "files", "sk-", "no"):
        raw = raw_of([anthropic(piece)])
        assert events.feed(raw) == raw


def test_lines_before_the_data_go_at_once():
    """The first byte of an answer is as early as ever."""
    events = EventScrub(ECHOES)

    assert (
        events.feed(b": hello\nevent: message_start\ndata: {") == b": hello\nevent: message_start\n"
    )
    assert events.feed(b"}\n\n") == b"data: {}\n\n"


def test_open_beginning_holds_what_comes_until_it_is_none():
    """In order, then all of it."""
    events = EventScrub(ECHOES)
    first, ping, last = raw_of([chat("sk-r")]), raw_of([{"type": "ping"}]), raw_of([chat("x")])

    assert events.feed(first) == b""
    assert events.feed(ping) == b""
    assert events.feed(last) == first + ping + last


def test_second_tick_lets_go_and_the_rest_is_still_found():
    """A provider that is silent does not hold a client's words for long."""
    events = EventScrub(ECHOES)
    first = raw_of([gemini(KEY[:9])])

    assert events.feed(first) == b""
    assert events.tick() == b""
    assert events.tick() == first
    rest = events.feed(raw_of([gemini(KEY[9:] + ".")]))
    assert text_of(gemini, rest) == PLACE + "."


def test_much_does_not_wait():
    """More than a quarter of a mebibyte behind an open beginning goes on."""
    events = EventScrub(ECHOES)
    held = raw_of([chat("sk-real")])
    other = raw_of([{"image": "A" * 300_000}])

    assert events.feed(held) == b""
    assert events.feed(other) == held + other


def test_interleaved_blocks_are_told_apart():
    """Pieces of another block between those of a key do not hide it."""
    pieces = [anthropic(KEY[:8]), arguments("{}"), anthropic(KEY[8:])]
    got = through(raw_of(pieces))

    assert KEY[8:].encode() not in got
    assert got.count(PLACE.encode()) == 1
    assert b'"{}"' in got


def test_block_s_first_text_is_joined_with_what_is_added():
    """As clients of Anthropic do."""
    block = {"type": "text", "text": KEY[:8]}
    start = {"type": "content_block_start", "index": 0, "content_block": block}

    assert KEY[8:].encode() not in through(raw_of([start, anthropic(KEY[8:])]))


def test_parts_of_one_event_are_joined_too():
    """As clients of Gemini do."""
    parts = [{"text": KEY[:8]}, {"text": KEY[8:]}]

    got = through(raw_of([{"candidates": [{"content": {"parts": parts}}]}]))
    assert KEY[8:].encode() not in got
    assert PLACE.encode() in got


def test_event_that_is_too_long_passes_as_it_comes():
    """And what follows is read again."""
    events = EventScrub(ECHOES)
    long = b'data: {"a": "' + b"x" * (2 << 20)

    got = events.feed(long)
    assert len(got) > 1 << 20
    got += events.feed(b'"}\n\n') + events.feed(raw_of([chat(KEY[:8])]))
    assert got == long + b'"}\n\n'


def test_event_of_very_many_strings_is_read_in_part():
    """A provider cannot keep the host busy; what comes later is still joined."""
    many = raw_of([{"list": ["x"] * 5000 + [KEY[:8]]}, {"list": [KEY[8:]]}])
    later = raw_of([chat(KEY[:8]), chat(KEY[8:])])
    got = through(many + later)

    assert got.startswith(many)
    assert text_of(chat, got[len(many) :]) == PLACE


@pytest.mark.parametrize("api", APIS)
def test_without_keys_nothing_is_looked_for(api):
    """A local server has none to repeat."""
    raw = raw_of([api(KEY[:8])])

    assert EventScrub(Echoes(KnownValues({}), "p")).feed(raw) == raw
