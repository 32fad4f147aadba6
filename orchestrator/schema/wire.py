"""A recorded request, back from the form that ``to_wire`` gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from orchestrator.schema.request import Request

_KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in get_args(Request)}


def from_wire(data: object) -> Request:
    """Return the request; raises ValueError, with the place, for what is none."""
    fields = dict(data) if isinstance(data, Mapping) else {}
    kind = _KINDS.get(str(fields.pop("kind", None)))
    if kind is None:
        raise ValueError(f"kind: expected one of {', '.join(sorted(_KINDS))}")
    try:
        request: Request = TypeAdapter(kind).validate_python(fields)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from err
    return request
