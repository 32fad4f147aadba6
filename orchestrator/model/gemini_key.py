"""Trying a Gemini key: its API serves programs in the box, so no SDK of it is here."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from orchestrator.credentials.secret import Secret
from orchestrator.model.catalog import Target, is_loopback
from orchestrator.model.errors import Failure, broken_stream, model_error
from orchestrator.model.key_answer import listed

CONNECT_S = 10.0
READ_S = 30.0


async def count_models(target: Target, key: Secret | None) -> int:
    """Make the cheapest request that needs the key; return how many models it may use.

    ModelError where the provider refuses or does not answer.
    """
    headers = dict(target.headers) | ({"x-goog-api-key": key.reveal()} if key else {})
    url = f"{target.base_url.removesuffix('/v1beta')}/v1beta/models?pageSize=1000"
    try:
        async with httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=not is_loopback(target.base_url),
            timeout=httpx2.Timeout(READ_S, connect=CONNECT_S),
        ) as http:
            response = await http.get(url, headers=headers)
    except httpx2.HTTPError as error:
        # Only the kind: the request, and with it the key, hangs on the exception.
        raise broken_stream(target.info.provider, type(error).__name__) from None
    if response.status_code != 200:
        told = _decoded(response.text).get("error")
        told = told if isinstance(told, dict) else {}
        message = str(told.get("message") or "").replace(key.reveal() if key else "\0", "[key]")
        # Google calls a wrong key an invalid argument.
        status = 401 if "API key not valid" in message else response.status_code
        failure = Failure(status, str(told.get("status") or ""), "", message, None)
        raise model_error(target.info.provider, failure)
    return listed(target.info.provider, response.text, field="models", key=key)


def _decoded(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
