"""What commands are told of the way out: the variables that clients look at."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.schema.way_out import WayOut

LOCAL = "localhost,127.0.0.1,::1"
"""Servers in the box and services beside it are reached directly."""

_PROXIED = ("http_proxy", "https_proxy", "all_proxy")


def way_environment(way: WayOut, own: Mapping[str, str]) -> dict[str, str]:
    """Return what is added to every command's variables; what the user set, ``own``, stays."""
    proxy = f"http://127.0.0.1:{way.proxy_port}"
    told = dict.fromkeys(_PROXIED, proxy) | {"no_proxy": LOCAL}
    told |= {name.upper(): value for name, value in told.items()}
    # Node takes the variables above only when it is told to.
    told["NODE_USE_ENV_PROXY"] = "1"
    told |= way.environment
    return {name: value for name, value in told.items() if name not in own}
