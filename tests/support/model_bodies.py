"""Request bodies held against OpenAI's own document and against the official SDKs' types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai.types import Content, GenerateContentConfig
from jsonschema import Draft202012Validator
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.support.model_rules import gemini_faults

SCHEMA = Path(__file__).parent.parent / "cases" / "openai-requests.schema.json"
COMPONENTS = {
    "openai-chat": "CreateChatCompletionRequest",
    "openai-responses": "CreateResponse",
}
SDK_TYPES: dict[str, Any] = {
    "anthropic": MessageCreateParamsStreaming,
    "openai-chat": CompletionCreateParamsStreaming,
    "openai-responses": ResponseCreateParamsStreaming,
}


@cache
def _validator(component: str) -> Draft202012Validator:
    document = json.loads(SCHEMA.read_text("utf-8"))
    resource = Resource(contents=document, specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("urn:openai", resource)
    reference = {"$ref": f"urn:openai#/components/schemas/{component}"}
    return Draft202012Validator(reference, registry=registry)


@cache
def _adapter(api: str) -> TypeAdapter[Any]:
    # Kept for good: its lazy iterators do not outlive it.
    return TypeAdapter(SDK_TYPES[api])


def faults(api: str, body: Mapping[str, Any]) -> list[str]:
    """Return everything that is wrong with a body; unknown fields count as wrong."""
    if api == "gemini":
        return _gemini_faults(body)
    found = _sdk_faults(api, body)
    if api in COMPONENTS:
        errors = _validator(COMPONENTS[api]).iter_errors(body)
        found += [f"{error.json_path}: {error.message[:200]}" for error in errors]
    return found


def _gemini_faults(body: Mapping[str, Any]) -> list[str]:
    """Hold a call of the SDK against its types, and its contents against the API's rules."""
    found = [f"{name}: unknown" for name in set(body) - {"model", "contents", "config"}]
    try:
        GenerateContentConfig.model_validate(body["config"])
        return found + gemini_faults(as_sent(body))
    except ValidationError as error:
        return found + [f"{item['loc']}: {item['msg']}" for item in error.errors()]


def as_sent(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's contents as the API reads them; ValidationError where the SDK takes none."""
    turns = [Content.model_validate(content) for content in body["contents"]]
    more: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
    return {"contents": [turn.model_dump(**more) for turn in turns]}


def _sdk_faults(api: str, body: Mapping[str, Any]) -> list[str]:
    shape = SDK_TYPES[api]
    unknown = sorted(set(body) - set(get_type_hints(shape)))
    try:
        _exhaust(_adapter(api).validate_python(body))
    except ValidationError as error:
        details = error.errors(include_url=False)
        return unknown + [f"{item['loc']}: {item['msg']}" for item in details]
    return [f"{name}: unknown to the SDK" for name in unknown]


def _exhaust(value: Any) -> None:
    """Walk the whole value: pydantic checks an Iterable only while it is read."""
    if isinstance(value, Mapping):
        for item in value.values():
            _exhaust(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _exhaust(item)
