"""The proxy of a company around the host, as a person writes it under ``egress.upstream_proxy``."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

_HOST = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
_MOST = 256


class UpstreamProxySettings(BaseModel):
    """Where connections of boxes leave by; only the user's own file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    """``http://HOST:PORT``, or ``https://HOST:PORT`` for a proxy that is spoken to by TLS."""
    no_proxy: Annotated[tuple[str, ...], Field(max_length=_MOST)] = ()
    """Names, ``*.SUFFIX``, addresses and ranges that are connected to without it."""
    secret: str | None = None
    """Name in the key store of ``user:password``, as ``inject.secret`` names one."""
    resolve: Literal["here", "there"] = "here"
    """Who looks names up: ``here`` this host, which checks every address; ``there`` the proxy."""

    @field_validator("url")
    @classmethod
    def _proxy_address(cls, value: str) -> str:
        # The messages never repeat the value: somebody may have put a password into it.
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError as error:
            raise ValueError("expected http://HOST:PORT or https://HOST:PORT") from error
        if parts.username is not None or parts.password is not None:
            raise ValueError(
                "expected no user and password: keep user:password with 'glovebox keys set NAME', "
                "and name it as secret"
            )
        if parts.scheme not in {"http", "https"} or not parts.hostname or not port:
            raise ValueError("expected http://HOST:PORT or https://HOST:PORT")
        if not _is_address(parts.hostname) and (
            "*" in parts.hostname or not _HOST.fullmatch(parts.hostname)
        ):
            raise ValueError("expected a host name in ASCII, or an address")
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError("expected nothing after the port")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return f"{parts.scheme}://{host}:{port}"

    @field_validator("no_proxy")
    @classmethod
    def _places(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_place(item.strip().lower()) for item in value)

    @property
    def host(self) -> str:
        """Name or address of the proxy."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """Its port."""
        return urlsplit(self.url).port or 0

    @property
    def secured(self) -> bool:
        """Whether it is spoken to by TLS."""
        return self.url.startswith("https:")


def _place(text: str) -> str:
    if text.startswith("."):
        raise ValueError(f"expected a name, *.SUFFIX or a range, got {text!r}: write '*{text}'")
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        if "/" in text:
            raise ValueError(
                f"expected a range such as 10.0.0.0/8, got {text!r}: {error}"
            ) from error
    if not _HOST.fullmatch(text):
        raise ValueError(f"expected a name, *.SUFFIX, an address or a range, got {text!r}")
    return text


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
