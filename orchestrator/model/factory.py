"""From ``-m SPEC`` to a model that is ready to be asked, and closed when the run ends."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio

from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.errors import CredentialError
from orchestrator.model.catalog import Target, is_loopback, resolve
from orchestrator.model.client import ModelClient, OnBroken, uncounted
from orchestrator.model.local import open_local
from orchestrator.model.retry import OnRetry, Retrying, RetryPolicy
from orchestrator.model.scripted import open_script
from orchestrator.model.sdk import open_adapter

Keys = Callable[[str], Secret | None]
"""Give the key of a name, or None."""


@asynccontextmanager
async def open_model(
    spec: str,
    *,
    providers: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
    keys: Keys,
    on_retry: OnRetry,
    warn: Callable[[str], None],
    retry: RetryPolicy | None = None,
    on_broken: OnBroken = uncounted,
) -> AsyncIterator[ModelClient]:
    """Open ``provider/name``, ``local`` or ``scripted:FILE``; a missing key is a CredentialError."""
    async with _open(
        spec, providers=providers, environ=environ, keys=keys, warn=warn, on_broken=on_broken
    ) as client:
        yield Retrying(
            client,
            sleep=anyio.sleep,
            rng=random.SystemRandom().random,
            on_retry=on_retry,
            policy=retry,
        )


def _open(
    spec: str,
    *,
    providers: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
    keys: Keys,
    warn: Callable[[str], None],
    on_broken: OnBroken,
) -> AbstractAsyncContextManager[ModelClient]:
    if spec == "local":
        return open_local(environ, on_broken=on_broken)
    if spec.startswith("scripted:"):
        return _scripted(Path(spec.removeprefix("scripted:")))
    target = resolve(spec, providers=providers, environ=environ)
    warning = cleartext_warning(target)
    if warning:
        warn(warning)
    return open_adapter(target, key_of(target, keys), on_broken=on_broken)


@asynccontextmanager
async def _scripted(path: Path) -> AsyncIterator[ModelClient]:
    yield open_script(path)


def key_of(target: Target, keys: Keys) -> Secret | None:
    """Return the target's key; raises CredentialError where it needs one and has none."""
    key = keys(target.key)
    if key is None and target.key_required:
        variable = target.key.upper().replace("-", "_")
        raise CredentialError(
            f"{target.info.id}: no key named {target.key!r}",
            hint=f"glovebox keys set {target.key}, or set {variable}_API_KEY; "
            "-m local needs no key",
        )
    if key is not None and not (key.reveal().isascii() and key.reveal().isprintable()):
        raise CredentialError(
            f"{target.info.id}: the key {target.key!r} holds characters that no header can carry",
            hint=f"set it again without line breaks: glovebox keys set {target.key}",
        )
    return key


def cleartext_warning(target: Target) -> str | None:
    """Say when key and conversation would cross a network unencrypted."""
    if not target.base_url.startswith("http://") or is_loopback(target.base_url):
        return None
    return f"{target.info.provider}: {target.base_url} is not encrypted: key and code can be read on the way"
