"""What a request's JSON body asks for: model, length of the answer, stream. Pure.

Servers differ in what they make of a name that stands twice or in other case (Go's decoder takes
``Model`` for ``model``), so those names may stand once and as they are written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from orchestrator.egress.endpoint.blocks import COUNTED
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Route
from orchestrator.egress.endpoint.unseen import pictures

_LENGTHS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""Names by which APIs bound an answer."""
_CONFIG, _CONFIGS = "generationConfig", ("generationConfig", "generation_config")
_GEMINI_LENGTHS = ("maxOutputTokens", "max_output_tokens")
_GEMINI_COUNTS = ("candidateCount", "candidate_count")
_WATCHED = frozenset({"model", "stream", "n", "background", "tools", "store", *_LENGTHS, *_CONFIGS})
_NAME = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?\Z")
_MAX_ANSWERS = 128
_MAX_VALUES = 2_000_000
"""Commas and brackets of a body: JSON of nothing else takes fifty times its bytes in memory."""
_PICTURE_TOKENS = 3_000
"""What a picture takes does not follow from its bytes."""
_BYTES_A_TOKEN = 3
"""Prose has four and more, code about three: rather too many tokens than too few."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A body that was read, and the bytes that go on."""

    raw: bytes
    data: Mapping[str, Any]
    model: str
    streams: bool
    output: int | None
    """Tokens of an answer that it asks for at most; None where it names no limit."""
    answers: int = 1

    pictures: tuple[int, ...] = ()
    """Bytes of each of its pictures."""

    @property
    def input_estimate(self) -> int:
        """Return how many tokens the prompt may have, rather too many."""
        plain = max(len(self.raw) - sum(self.pictures), 0)
        return plain // _BYTES_A_TOKEN + len(self.pictures) * _PICTURE_TOKENS


def parse_body(raw: bytes, route: Route) -> RequestBody:
    """Return what a body asks for; RefusedCallError with status 400 where that is not clear."""
    data = _decoded(raw)
    model = route.model or data.get("model")
    if not isinstance(model, str) or not _NAME.match(model):
        raise RefusedCallError(400, "model: expected a name of printable ASCII characters")
    if route.model:
        _check_models(data, route.model)
    if data.get("background"):
        raise RefusedCallError(
            400, "background: answers that nobody waits for cannot be counted; leave it out"
        )
    config = _config_of(data) if route.shape == "gemini" else data
    lengths = _GEMINI_LENGTHS if route.shape == "gemini" else _LENGTHS
    counts = _GEMINI_COUNTS if route.shape == "gemini" else ("n",)
    output = [_whole(config, name) for name in lengths if config.get(name) is not None]
    answers = [_whole(config, name) for name in counts if config.get(name) is not None]
    if max(answers, default=1) > _MAX_ANSWERS:
        raise RefusedCallError(400, f"{counts[0]}: expected at most {_MAX_ANSWERS}")
    return RequestBody(
        raw=raw,
        data=data,
        model=model,
        streams=_streams(data, route),
        output=max(output, default=None),
        answers=max(answers, default=1),
        pictures=tuple(pictures(data, route)),
    )


def with_model(body: RequestBody, model: str, route: Route) -> RequestBody:
    """Return the body asking for another model."""
    if model == body.model:
        return body
    if not route.model:
        return _rewritten(body, {**body.data, "model": model}, model=model)
    data = _renamed(body.data, model)
    return replace(body, model=model) if data == body.data else _rewritten(body, data, model=model)


def _check_models(data: Mapping[str, Any], named: str) -> None:
    """Refuse a body that names another model than its path does."""
    for holder in (data, *(data[name] for name in COUNTED if isinstance(data.get(name), dict))):
        inner = holder.get("model")
        if inner is not None and inner not in (named, f"models/{named}"):
            raise RefusedCallError(400, f"model: expected {named!r} as in the path, or none")


def _renamed(data: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return a body of Gemini's that names another model wherever it names one."""
    found = {name: f"models/{model}" if name == "model" else value for name, value in data.items()}
    inner = {name: data[name] for name in COUNTED if isinstance(data.get(name), dict)}
    return found | {name: _renamed(value, model) for name, value in inner.items()}


def with_output(body: RequestBody, most: int, route: Route) -> RequestBody:
    """Return the body asking for an answer of at most ``most`` tokens."""
    if route.kind != "generate" or (body.output is not None and body.output <= most):
        return body
    data = dict(body.data)
    if route.shape == "gemini":
        config = {k: v for k, v in _config_of(data).items() if k not in _GEMINI_LENGTHS}
        data.pop(_CONFIGS[1], None)
        data[_CONFIG] = {**config, _GEMINI_LENGTHS[0]: most}
        return replace(_rewritten(body, data, model=body.model), output=most)
    given = [name for name in _LENGTHS if data.get(name) is not None]
    for name in given or [_usual(route)]:
        data[name] = min(data.get(name) or most, most)
    return replace(_rewritten(body, data, model=body.model), output=most)


def with_data(body: RequestBody, data: Mapping[str, Any]) -> RequestBody:
    """Return the body with other content and the same wishes."""
    return _rewritten(body, data, model=body.model)


def _usual(route: Route) -> str:
    """Return the name by which a route's API bounds an answer; old servers know no other."""
    return "max_output_tokens" if route.tail == "/responses" else "max_tokens"


def _rewritten(body: RequestBody, data: Mapping[str, Any], *, model: str) -> RequestBody:
    return replace(body, raw=json.dumps(data).encode(), data=data, model=model)


def _streams(data: Mapping[str, Any], route: Route) -> bool:
    if route.shape == "gemini":
        return route.tail.endswith(":streamGenerateContent")
    stream = data.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise RefusedCallError(400, "stream: expected true or false")
    return bool(stream)


def _config_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    given = [data[name] for name in _CONFIGS if data.get(name) is not None]
    if len(given) > 1 or not all(isinstance(config, dict) for config in given):
        raise RefusedCallError(400, f"{_CONFIG}: expected one object")
    return given[0] if given else {}


def _whole(data: Mapping[str, Any], name: str) -> int:
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RefusedCallError(400, f"{name}: expected a whole number of at least 1")
    return value


def _decoded(raw: bytes) -> dict[str, Any]:
    if len(raw) > _MAX_VALUES and sum(raw.count(sign) for sign in (b",", b"[", b"{")) > _MAX_VALUES:
        raise RefusedCallError(413, "body: too many values")
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError as error:
        raise RefusedCallError(400, "body: nested too deeply") from error
    except ValueError as error:
        # Only where, never what: the text is the program's own.
        raise RefusedCallError(400, "body: expected JSON in UTF-8") from error
    if not isinstance(data, dict):
        raise RefusedCallError(400, "body: expected a JSON object")
    for name in data:
        if name not in _WATCHED and name.casefold() in _FOLDED:
            raise RefusedCallError(400, f"body: {name!r} is too like {name.casefold()!r}")
    return data


_FOLDED = frozenset(name.casefold() for name in _WATCHED)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RefusedCallError(400, "body: a name stands twice in one object")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)
