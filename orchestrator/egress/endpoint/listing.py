"""The models that a session's box may ask for: what its providers list and policy allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import httpx2

from orchestrator.egress.endpoint.clients import Clients, timeouts
from orchestrator.egress.endpoint.headers import request_headers
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Route, Shape
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.policy.box_models import BoxModels

LIST_S = 20.0
_MAX_BYTES = 8 * 1024 * 1024
_ROWS: Mapping[Shape, tuple[str, str, str]] = {
    "anthropic": ("data", "id", ""),
    "openai": ("data", "id", ""),
    "gemini": ("models", "name", "models/"),
}
"""Where the rows stand, what names a row, and what stands before the name."""
_WHOLE: Mapping[Shape, str] = {
    "anthropic": "?limit=1000",
    "openai": "",
    "gemini": "?pageSize=1000",
}


async def list_models(
    asked: Sequence[tuple[str, str]],
    route: Route,
    upstreams: Sequence[Upstream],
    *,
    terms: BoxModels,
    clients: Clients,
) -> dict[str, Any]:
    """Return one page in the API's form; RefusedCallError where no provider gives a list."""
    rows: dict[str, list[dict[str, Any]]] = {}

    async def one(upstream: Upstream) -> None:
        if upstream.open is not None:
            # Not worth starting for: it has one model, whose name is known.
            row = {_ROWS[route.shape][1]: upstream.only_model, "object": "model"}
            rows[upstream.name] = [row] if _allowed(row, route, upstream, terms) else []
            return
        key = upstream.key.reveal() if upstream.key else None
        headers = request_headers(asked, route, key=key, configured=upstream.headers)
        found = await _rows(upstream, route, headers, clients.of(upstream))
        if found is not None:
            rows[upstream.name] = [row for row in found if _allowed(row, route, upstream, terms)]

    able = [upstream for upstream in upstreams if upstream.serves(route)]
    async with anyio.create_task_group() as group:
        for upstream in able:
            group.start_soon(one, upstream)
    if not rows:
        names = ", ".join(upstream.name for upstream in able) or "none of this API"
        raise RefusedCallError(502, f"no provider gave a list of its models ({names})")
    return _page([row for upstream in able for row in rows.get(upstream.name, ())], route.shape)


async def _rows(
    upstream: Upstream, route: Route, headers: list[tuple[str, str]], client: httpx2.AsyncClient
) -> list[dict[str, Any]] | None:
    """Return a provider's own rows; None where it gave none."""
    request = httpx2.Request(
        "GET",
        upstream.url(route, _WHOLE[route.shape]),
        headers=headers,
        extensions={"timeout": timeouts(upstream, streams=True)},
    )
    raw = b""
    try:
        with anyio.fail_after(LIST_S):
            response = await client.send(request, stream=True)
            try:
                async for piece in response.aiter_bytes():
                    raw += piece
                    if len(raw) > _MAX_BYTES:
                        return None
            finally:
                await response.aclose()
        data = json.loads(raw) if response.status_code == 200 else None
    except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError):
        return None
    rows = data.get(_ROWS[route.shape][0]) if isinstance(data, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def _allowed(row: Mapping[str, Any], route: Route, upstream: Upstream, terms: BoxModels) -> bool:
    _, key, before = _ROWS[route.shape]
    name = row.get(key)
    return isinstance(name, str) and terms.allows(f"{upstream.name}/{name.removeprefix(before)}")


def _page(rows: list[dict[str, Any]], shape: Shape) -> dict[str, Any]:
    if shape == "gemini":
        return {"models": rows}
    if shape == "openai":
        return {"object": "list", "data": rows}
    ends = {"first_id": rows[0].get("id") if rows else None}
    return {
        "data": rows,
        "has_more": False,
        **ends,
        "last_id": rows[-1].get("id") if rows else None,
    }
