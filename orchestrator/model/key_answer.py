"""What a provider answers when its key is tried: its models, or something else. Pure."""

from __future__ import annotations

import json

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError

_SHOWN = 80
"""Characters of another answer that are repeated."""


def listed(provider: str, text: str, *, field: str, key: Secret | None) -> int:
    """Return how many models ``field`` of an answer lists; ModelError where it is no such answer.

    A server that knows nothing of the key answers anything with 200: only a list tells that it works.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and field in data:
        models = data[field]
        # Some servers without a model write null.
        if models is None or isinstance(models, list):
            return len(models or ())
    shown = " ".join(text.replace(key.reveal() if key else "\0", "[key]").split())
    cut = shown[:_SHOWN] + ("…" if len(shown) > _SHOWN else "")
    raise ModelError(
        f"{provider}: expected a list of models (JSON with {field!r}), got {cut!r}"
        if cut
        else f"{provider}: expected a list of models (JSON with {field!r}), got an empty answer",
        kind="bad_request",
        status=200,
        hint="whether the key works is not known; check the provider's base_url and api",
    )
