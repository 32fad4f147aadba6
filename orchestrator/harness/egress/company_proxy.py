"""The company's proxy of one session, put together from the user's settings and keys."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping

from anyio import to_thread

from orchestrator.config.settings import EgressSettings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.credentials.store import KeyStore
from orchestrator.egress.no_proxy import NoProxy
from orchestrator.egress.upstream_proxy import CompanyProxy, ProxyPlace
from orchestrator.errors import ConfigError
from orchestrator.harness.egress.secrets import HostSecrets
from orchestrator.harness.egress.secured import host_context

_PLACE = "egress.upstream_proxy"
_VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
_TRY_S = 3.0


async def company_proxy(
    settings: EgressSettings, keys: KeyStore, *, learn: Callable[[dict[str, str]], None]
) -> CompanyProxy | None:
    """Return the proxy that connections leave by; None where there is none.

    ``learn`` hears its password. ConfigError where that is missing or is none: nothing leaves then.
    """
    given = settings.upstream_proxy
    if given is None:
        return None
    login = None
    if given.secret is not None:
        login = await to_thread.run_sync(_login, given.secret, HostSecrets(keys, learn=learn))
        learn({"secret-upstream-proxy": login.partition(":")[2]})
    context = host_context(settings) if given.secured else None
    return CompanyProxy(
        ProxyPlace(given.host, given.port, context, login),
        NoProxy(given.no_proxy),
        looks_up=given.resolve == "there",
    )


def proxy_fact(settings: EgressSettings) -> str:
    """Return what is told of the proxy, in one line; empty without one."""
    given = settings.upstream_proxy
    if given is None:
        return ""
    where = "names looked up and checked on the host"
    if given.resolve == "there":
        where = "names looked up by it, addresses not checked here"
    return f"{given.url}, {where}"


def proxy_trouble(given: UpstreamProxySettings) -> str:
    """Return why the proxy cannot be connected to, which may take some seconds; empty where it can."""
    try:
        socket.create_connection((given.host, given.port), _TRY_S).close()
    except OSError as error:
        return f"{_PLACE}: {given.url} cannot be reached: {error}"
    return ""


def unused_variable(settings: EgressSettings, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable that sends model calls by a proxy while boxes have none; or nothing."""
    if settings.upstream_proxy is not None:
        return ""
    return next((name for name in _VARIABLES if environ.get(name)), "")


def _login(reference: str, secrets: HostSecrets) -> str:
    (missing,) = secrets.load([reference]) or ("",)
    if missing:
        raise ConfigError(
            f"{_PLACE}.secret: {missing}",
            hint="without it nothing could leave; or take the setting away",
        )
    login = secrets.value(reference)
    if ":" not in login or any(not char.isprintable() for char in login):
        raise ConfigError(
            f"{_PLACE}.secret: expected the secret {reference!r} to be user:password in one line, "
            "got something else",
            hint=f"glovebox keys set {reference.rpartition(':')[2]}",
        )
    return login
