"""What a body asks for, and that nobody else reads it otherwise."""

import json

import pytest

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.request_body import (
    parse_body,
    with_data,
    with_model,
    with_output,
)
from orchestrator.egress.endpoint.routes import find_route

CHAT = find_route("POST", "/chat/completions", {})
RESPONSES = find_route("POST", "/responses", {})
GEMINI = find_route("POST", "/v1beta/models/g:streamGenerateContent", {})
COUNT = find_route("POST", "/v1/messages/count_tokens", {})


def parse(data, route=CHAT):
    return parse_body(data if isinstance(data, bytes) else json.dumps(data).encode(), route)


@pytest.mark.parametrize(
    ("data", "route", "expected"),
    [
        ({"model": "m"}, CHAT, ("m", False, None, 1)),
        ({"model": "m", "stream": True, "max_tokens": 5, "n": 3}, CHAT, ("m", True, 5, 3)),
        ({"model": "m", "max_tokens": 5, "max_completion_tokens": 9}, CHAT, ("m", False, 9, 1)),
        ({"model": "m", "max_output_tokens": 7}, RESPONSES, ("m", False, 7, 1)),
        ({"model": "models/g"}, GEMINI, ("g", True, None, 1)),
        (
            {"generationConfig": {"maxOutputTokens": 4, "candidateCount": 2}},
            GEMINI,
            ("g", True, 4, 2),
        ),
        ({"generation_config": {"max_output_tokens": 6}}, GEMINI, ("g", True, 6, 1)),
    ],
)
def test_each_api_says_it_by_other_names(data, route, expected):
    """Model, stream, length and number of answers."""
    body = parse(data, route)

    assert (body.model, body.streams, body.output, body.answers) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b'{"model":"a","model":"b"}',
        b'{"model":"a","Model":"b"}',
        '{"model":"a","\u017ftream":true}'.encode(),
        b'{"model":"a","MAX_TOKENS":9}',
        b'{"model":"a","x":NaN}',
        b'{"model":"a","x":"\xff"}',
        '{"model":"a"}'.encode("utf-16"),
        b"\xef\xbb\xbf" + b'{"model":"a"}',
        b'{"model":"a"',
        b'["a"]',
        b"",
        b'{"model":5}',
        b'{"model":""}',
        b'{"model":"a\\u0000b"}',
        b'{"model":"a","stream":"yes"}',
        b'{"model":"a","max_tokens":0}',
        b'{"model":"a","max_tokens":true}',
        b'{"model":"a","n":1000}',
        b'{"model":"a","background":true}',
        b'{"model":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_body_that_could_be_read_in_two_ways_is_refused(raw):
    """Servers differ in doubles, in case and in encodings."""
    with pytest.raises(RefusedCallError) as caught:
        parse(raw)
    assert caught.value.status == 400


def test_body_of_brackets_alone_is_refused_before_it_is_read():
    """It would take fifty times its size in memory."""
    with pytest.raises(RefusedCallError) as caught:
        parse(b"[" + b"[]," * 1_000_001 + b"]")
    assert caught.value.status == 413


def test_gemini_with_two_configurations_is_refused():
    """Nobody knows which one holds."""
    both = {"generationConfig": {}, "generation_config": {"maxOutputTokens": 1}}
    with pytest.raises(RefusedCallError):
        parse(both, GEMINI)


def test_unchanged_body_goes_on_byte_for_byte():
    """What needs no change keeps its spelling."""
    raw = b'{ "model" : "m", "max_tokens": 5, "x": 1.50 }'
    body = parse(raw)

    assert with_model(body, "m", CHAT).raw == raw
    assert with_output(body, 5, CHAT).raw == raw


@pytest.mark.parametrize(
    ("data", "route", "expected"),
    [
        ({"model": "m"}, CHAT, {"model": "m", "max_tokens": 3}),
        ({"model": "m", "max_tokens": 9}, CHAT, {"model": "m", "max_tokens": 3}),
        (
            {"model": "m", "max_completion_tokens": 9},
            CHAT,
            {"model": "m", "max_completion_tokens": 3},
        ),
        ({"model": "m"}, RESPONSES, {"model": "m", "max_output_tokens": 3}),
        (
            {"generation_config": {"max_output_tokens": 9, "topK": 1}},
            GEMINI,
            {"generationConfig": {"topK": 1, "maxOutputTokens": 3}},
        ),
        ({"model": "m"}, COUNT, {"model": "m"}),
    ],
)
def test_longer_answer_than_allowed_is_cut(data, route, expected):
    """In the field that the request used, else in the API's own."""
    assert json.loads(with_output(parse(data, route), 3, route).raw) == expected


def test_model_is_replaced_in_the_body_or_left_to_the_path():
    """Gemini names it in the path."""
    changed = with_model(parse({"model": "m", "x": "ü"}), "other", CHAT)

    assert json.loads(changed.raw) == {"model": "other", "x": "ü"}
    assert changed.model == "other"
    assert with_model(parse({"x": 1}, GEMINI), "other", GEMINI).model == "other"
    assert json.loads(with_data(parse({"model": "m"}), {"model": "m", "y": 1}).raw)["y"] == 1


def test_prompt_is_estimated_rather_too_long_but_not_by_its_pictures():
    """A picture's bytes say nothing of its tokens."""
    text = parse({"model": "m", "x": "word " * 3000})
    image = {"image_url": {"url": "data:image/png;base64," + "A" * 4_000_000}}
    picture = parse({"model": "m", "messages": [{"content": [image]}]})
    solid = parse({"model": "m", "messages": [{"content": "A;" * 2_000_000}]})

    assert 3000 < text.input_estimate < 6000
    assert picture.input_estimate < 4000
    assert solid.input_estimate > 1_000_000


@pytest.mark.parametrize(
    "data",
    [
        {"model": "other"},
        {"model": "models/other"},
        {"model": ["g"]},
        {"generateContentRequest": {"model": "models/other"}},
        {"generate_content_request": {"model": "models/other"}},
    ],
)
def test_body_may_not_name_another_model_than_its_path(data):
    """Whichever of the two a server goes by, policy has judged it."""
    with pytest.raises(RefusedCallError, match="as in the path"):
        parse(data, GEMINI)


def test_model_in_body_and_path_is_replaced_in_both():
    """A model that stands for another does so everywhere."""
    body = parse({"model": "models/g", "generateContentRequest": {"model": "models/g"}}, GEMINI)

    assert json.loads(with_model(body, "h", GEMINI).raw) == {
        "model": "models/h",
        "generateContentRequest": {"model": "models/h"},
    }
    plain = parse({"contents": []}, GEMINI)
    assert with_model(plain, "h", GEMINI).raw is plain.raw
