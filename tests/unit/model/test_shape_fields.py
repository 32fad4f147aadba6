"""The form of an answer in each API's words."""

import pytest

from orchestrator.model.client import OutputShape
from orchestrator.model.shape_fields import all_required, closed, shape_fields

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer", "minimum": 0}},
    "required": ["x"],
}
CLOSED = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"x": {"type": "integer"}}}


def fields(api, tier, schema=POINT):
    return shape_fields(OutputShape("point", schema, tier), api)


@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_words_alone_add_nothing(api):
    assert fields(api, "prompt") == {}
    assert shape_fields(None, api) == {}


def test_native_schema_in_each_api():
    named = {"name": "point", "schema": CLOSED, "strict": True}
    assert fields("anthropic", "native") == {
        "output_config": {"format": {"type": "json_schema", "schema": CLOSED}}
    }
    assert fields("openai-responses", "native") == {
        "text": {"format": {"type": "json_schema", **named}}
    }
    assert fields("openai-chat", "native") == {
        "response_format": {"type": "json_schema", "json_schema": named}
    }
    assert fields("gemini", "native") == {
        "response_mime_type": "application/json",
        "response_json_schema": POINT,
    }


def test_json_mode_in_each_api():
    assert fields("anthropic", "json") == {}
    assert fields("openai-responses", "json") == {"text": {"format": {"type": "json_object"}}}
    assert fields("openai-chat", "json") == {"response_format": {"type": "json_object"}}
    assert fields("gemini", "json") == {"response_mime_type": "application/json"}


def test_grammar_gets_the_schema_as_it_is():
    """A server's own sampler knows more keywords than a strict mode does."""
    found = fields("openai-chat", "grammar")["response_format"]["json_schema"]

    assert found == {"name": "point", "schema": POINT, "strict": False}


def test_members_that_may_be_left_out_are_not_asked_for_strictly():
    """OpenAI refuses such a schema in its strict mode."""
    assert (
        fields("openai-chat", "native", OPEN)["response_format"]["json_schema"]["strict"] is False
    )


def test_member_that_is_called_like_a_keyword_stays():
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "a"}}}

    assert closed(schema) == {
        "type": "object",
        "properties": {"pattern": {"type": "string"}},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (POINT, True),
        (OPEN, False),
        ({"type": "object"}, False),
        ({"type": "object", "properties": {"a": OPEN}, "required": ["a"]}, False),
        ({"type": "object", "properties": {"a": {"type": "array", "items": OPEN}}, "required": ["a"]}, False),
        ({"type": "object", "properties": {"required": {"type": "string"}}, "required": ["required"]}, True),
    ],
)  # fmt: skip
def test_every_object_counts(schema, strict):
    assert all_required(schema) is strict
