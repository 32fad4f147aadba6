"""A path of a container as a tar stream whose connection is closed however the reading ends."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from orchestrator.engine.client import Engine

_CHUNK = 1024 * 1024


@contextmanager
def archive_stream(
    engine: Engine, container: str, path: str
) -> Iterator[tuple[Iterator[bytes], dict[str, Any]]]:
    """Yield the chunks, and what the engine says of the path (``linkTarget`` and others).

    The SDK's own call leaves the connection to the collector where a reader stops half-way, as
    it does at a hostile archive. Raises the SDK's errors.
    """
    api = engine.api
    # The SDK's own naming of a call and reading of a refusal; no public ones exist.
    url = api._url("/containers/{0}/archive", container)  # type: ignore[attr-defined]  # noqa: SLF001
    with api.get(
        url,
        params={"path": path},
        headers={"Accept-Encoding": "identity"},
        stream=True,
        timeout=api.timeout,
    ) as response:
        api._raise_for_status(response)  # type: ignore[attr-defined]  # noqa: SLF001
        told = response.headers.get("x-docker-container-path-stat", "")
        yield response.iter_content(_CHUNK), json.loads(base64.b64decode(told)) if told else {}
