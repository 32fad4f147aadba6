"""A YAML tree into a policy document, and every mistake with its line and the nearest name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.errors import PolicyError
from orchestrator.policy.document import PolicyDocument
from orchestrator.policy.yaml_nodes import Loc, Node, Place, find, place_of, plain

_MAX_SHOWN = 12
_WANTED = {
    "string_type": "text (in quotes where it could be read as something else)",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "mapping_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
}


_Model = TypeVar("_Model", bound=BaseModel)


def validate_document(tree: Node) -> PolicyDocument:
    """Return the document; raises PolicyError, one ``file:line`` a mistake."""
    if tree.value is None:
        raise PolicyError(
            f"{tree.at}: expected a policy, got an empty file",
            hint="a policy begins with version: 1 and name: NAME; docs/policies.md shows one",
        )
    return validate_tree(tree, PolicyDocument)


def validate_tree(tree: Node, model: type[_Model]) -> _Model:
    """Return the tree as a model; raises PolicyError, one ``file:line`` a mistake."""
    empty = list(_without_value(tree, ()))
    if empty:
        raise PolicyError("\n".join(empty[:_MAX_SHOWN]))
    try:
        return model.model_validate(plain(tree))
    except ValidationError as err:
        mistakes = sorted(
            (_describe(tree, details, model) for details in err.errors()),
            key=lambda mistake: mistake[0].line,
        )
        lines = dict.fromkeys(f"{place}: {text}" for place, text in mistakes)
        raise PolicyError(
            "\n".join(list(lines)[:_MAX_SHOWN]),
            hint="glovebox policy schema prints every key; docs/policies.md explains them",
        ) from None


def nearest(word: str, known: list[str]) -> str:
    """Return ``; nearest: 'x'`` for a likely slip, else the known words, else nothing."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"; nearest: {close[0]!r}"
    return f"; known: {', '.join(sorted(known))}" if known else ""


def _without_value(node: Node, loc: Loc) -> Iterator[str]:
    if node.value is None:
        where = _label(loc) or "this"
        yield f"{node.at}: {where} has no value; give it one or take the key away"
    elif isinstance(node.value, Mapping):
        for key, child in node.value.items():
            yield from _without_value(child, (*loc, key))
    elif isinstance(node.value, tuple):
        for index, child in enumerate(node.value):
            yield from _without_value(child, (*loc, index))


def _describe(tree: Node, details: ErrorDetails, model: type[BaseModel]) -> tuple[Place, str]:
    loc = tuple(part for part in details["loc"] if part != "[key]")
    place = place_of(tree, loc)
    kind, where = details["type"], _label(loc[:-1])
    if kind == "extra_forbidden":
        known = _keys_at(model, loc[:-1])
        inside = f" in {where}" if where else ""
        return place, f"unknown key {str(loc[-1])!r}{inside}{nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return place_of(tree, loc[:-1]), f"{where or 'the file'} needs the key {loc[-1]!r}"
    return place, f"{_label(loc) or 'the file'}: {_problem(tree, loc, details)}"


def _problem(tree: Node, loc: Loc, details: ErrorDetails) -> str:
    kind, got = details["type"], _shown(details["input"])
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, got {got}"
    if kind == "literal_error":
        expected = str(details.get("ctx", {}).get("expected", ""))
        known = [word for word in expected.split("'") if word.strip() not in {"", ",", "or"}]
        node = find(tree, loc)
        word = node.value if node is not None and isinstance(node.value, str) else ""
        close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
        slip = f"; nearest: {close[0]!r}" if close else ""
        return f"expected {expected}, got {got}{slip}"
    if kind == "value_error":
        return str(details.get("ctx", {}).get("error", details["msg"]))
    return f"{details['msg'][:1].lower()}{details['msg'][1:]}, got {got}"


def _shown(value: Any) -> str:
    text = _as_written(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _as_written(value: Any) -> str:
    """Return a value as its author could have written it in YAML, texts in quotes."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case Mapping():
            pairs = (f"{key}: {_as_written(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case tuple() | list():
            return f"[{', '.join(map(_as_written, value))}]"
        case _:
            return repr(value)


def _label(loc: Loc) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc]
    return "".join(parts).lstrip(".")


def _keys_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Return the keys that may stand at ``loc``, where there is a model."""
    for part in loc:
        if isinstance(part, str):
            model = _models_in(model.model_fields[part].annotation)[0]
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = getattr(annotation, "__args__", ())
    return [model for part in inner for model in _models_in(part)]
