"""The connection to the container engine, found the way the docker command finds it."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from docker import APIClient
from docker.context import Context, ContextAPI
from docker.context.config import get_current_context_name
from docker.errors import DockerException
from docker.utils import kwargs_from_env, version_lt
from requests import PreparedRequest, Response  # noqa: TID251 - the SDK's transport, tuned here
from requests.adapters import HTTPAdapter  # noqa: TID251 - the SDK's transport, tuned here
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import ReadTimeoutError
from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from orchestrator.config.assets import asset
from orchestrator.engine.facts import EngineInfo, parse_info
from orchestrator.engine.failure import plain_cause, translated
from orchestrator.engine.patience import note_word, seconds_now
from orchestrator.errors import EngineError, EngineUnavailable

MINIMUM_API = "1.41"
"""Docker 20.10: the oldest engine whose limits and options the box relies on."""

DEFAULT_URL = "unix:///var/run/docker.sock"

_CONNECT_TIMEOUT_S = 10
_GLANCE_S = 0.2
_HOLDS_S = 2.0
"""How long an engine's answer about itself is taken to hold: a start asks in several places."""
_CALL_TIMEOUT_S = 60
"""Long enough for a slow disk to create a container; streams switch it off themselves."""


@dataclass(slots=True)
class _Told:
    """What an engine last said of itself, and when."""

    info: EngineInfo | None = None
    at: float = 0.0
    """By the monotonic clock, of the question."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine that has answered; safe to use from several threads."""

    api: APIClient
    """The SDK's low-level client, time-outs set; wrap its calls in ``failure.translated``."""
    url: str
    """Where it answers, as the docker command writes it."""
    same_machine: bool
    """True where it listens on a local socket in this very machine or container."""
    _told: _Told = field(default_factory=_Told, compare=False, repr=False)

    def info(self) -> EngineInfo:
        """Ask the engine what it is and what it can do, unless it was asked a moment ago."""
        now, told = time.monotonic(), self._told
        if told.info is None or now - told.at > _HOLDS_S:
            told.info, told.at = self._ask(), now
        return told.info

    def _ask(self) -> EngineInfo:
        # Side by side: for either answer an engine starts two programs.
        with translated("ask the engine about itself"), ThreadPoolExecutor(1) as beside:
            asked = beside.submit(copy_context().run, self.api.version)
            info = self.api.info()
            version = asked.result()
        return parse_info(info, version, same_machine=self.same_machine)

    def is_gone(self) -> bool:
        """Say at once whether nothing listens any more where a local engine was.

        False for an engine elsewhere: what can be told of it takes longer.
        """
        if not self.url.startswith("unix://"):
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_GLANCE_S)
            try:
                probe.connect(self.url.removeprefix("unix://"))
            except (ConnectionRefusedError, FileNotFoundError):
                return True
            except OSError:
                return False
        return False

    def check(self) -> None:
        """Raise EngineUnavailable, as ``connect`` does, where it does not answer any more."""
        try:
            self.api.ping()
        except (DockerException, OSError, ValueError) as err:
            raise _unavailable(self.url, err) from err

    def close(self) -> None:
        """Give the connections back; the engine itself runs on."""
        self.api.close()


def connect(url: str | None = None, *, environ: Mapping[str, str] | None = None) -> Engine:
    """Return the engine at ``url``, else at DOCKER_HOST, else of the current docker context.

    Raises EngineUnavailable, whose hint names the one command to run, when none answers, and
    EngineError when one answers that is too old.
    """
    options = _endpoint(url, os.environ if environ is None else environ)
    where: str = options["base_url"]
    try:
        same_machine = _knock(where)
        api = _Client(timeout=_CONNECT_TIMEOUT_S, use_ssh_client=True, **options)
    # The SDK wraps its first question's failures itself; the proxies it reads may be malformed.
    except (DockerException, OSError, ValueError) as err:
        raise _unavailable(where, err) from err
    if version_lt(api.api_version, MINIMUM_API):
        api.close()
        raise EngineError(
            f"engine at {where}: expected API {MINIMUM_API} or newer, got {api.api_version}",
            hint="upgrade Docker to 20.10 or newer",
        )
    api.timeout = _CALL_TIMEOUT_S
    return Engine(api, where, same_machine)


def engine_key(environ: Mapping[str, str]) -> str:
    """Return what tells one engine, and the way to it, from another; asks nobody.

    Raises EngineUnavailable where the environment names a docker context that does not exist.
    """
    options = _endpoint(None, environ)
    tls = options.get("tls")
    return f"{options['base_url']} {sorted(vars(tls).items()) if tls else ''}"


class _Client(APIClient):
    """The SDK's client, which leaves no connection behind when its first question fails."""

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(version=MINIMUM_API, **options)
            self._version = self._newest_version()
        except BaseException:
            self.close()
            raise
        for adapter in self.adapters.values():
            if isinstance(adapter, HTTPAdapter):
                adapter.max_retries = _OneReconnect(
                    total=1,
                    connect=0,
                    read=1,
                    redirect=0,
                    status=0,
                    allowed_methods={"GET", "HEAD"},
                )

    def _set_request_timeout(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Wait as long as the session that asks can."""
        usual = self.timeout
        if isinstance(usual, int | float):
            kwargs.setdefault("timeout", seconds_now(usual))
        return dict(super()._set_request_timeout(kwargs))  # type: ignore[misc]  # the stubs' gap

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Return the answer, which ends a silence."""
        answer = super().send(request, **options)
        note_word()
        return answer

    def _newest_version(self) -> str:
        """Read the version off a ping: for the long answer an engine starts two programs."""
        ping = self.get(f"{self.base_url}/_ping", timeout=self.timeout)
        # Something between may have dropped it.
        told = ping.headers.get("Api-Version") or self.version(api_version=False).get("ApiVersion")
        if not told:
            raise DockerException("the answer has no ApiVersion")
        return str(told)

    def merge_environment_settings(self, url: Any, proxies: Any, *more: Any) -> Any:
        """Check the engine by its own authority, whatever REQUESTS_CA_BUNDLE names for others."""
        stream, verify, cert = more
        own = self.verify if verify is None else verify
        return super().merge_environment_settings(url, proxies, stream, own, cert)


class _OneReconnect(Retry):
    """Asks once more over a new connection when the engine dropped a kept one.

    Only questions: a lost answer to a change may mean that the change was made.
    """

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """Give up at once on silence: a second wait would double the time-out."""
        if isinstance(error, ReadTimeoutError):
            raise error
        return super().increment(method, url, response, error, _pool, _stacktrace)


def _endpoint(url: str | None, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the SDK's connection options; a named context that does not exist is an error."""
    with translated("find the engine"):
        host = url or environ.get("DOCKER_HOST")
        if host:
            return {**kwargs_from_env({**environ, "DOCKER_HOST": host})}
        name = environ.get("DOCKER_CONTEXT") or get_current_context_name()
        if name == "default":
            return {"base_url": DEFAULT_URL}
        context: Context | None = ContextAPI.get_context(name)
        host = context.Host if context is not None else None
        if context is None or not host:
            raise EngineUnavailable(
                f"docker context {name!r}: no such context, or it names no engine",
                hint="run `docker context ls`, then `docker context use NAME`",
            )
        options: dict[str, Any] = {"base_url": host}
        if context.TLSConfig is not None:
            options["tls"] = context.TLSConfig
        return options


def _unavailable(url: str, err: Exception) -> EngineUnavailable:
    cause = plain_cause(err)
    return EngineUnavailable(
        f"no container engine answers at {url}: {cause}", hint=_hint(url, cause)
    )


def _hint(url: str, cause: str) -> str:
    if "paramiko" in cause:
        return "run `pip install 'docker[ssh]'` where glovebox is installed"
    if not url.startswith("unix://"):
        return f"check that the engine at {url} runs, or unset DOCKER_HOST and DOCKER_CONTEXT"
    if "permission denied" in cause.lower():
        return 'run `sudo usermod -aG docker "$USER"` and log in again'
    return f"run `sudo sh {asset('sandbox-image') / 'setup-engine.sh'}`"


def _knock(url: str) -> bool:
    """Return whether a local socket's listener is a process that this one can see.

    False inside a container that has the host's socket mounted: its paths are not the engine's.
    False too for another user's rootless engine, which may not enter this user's directories.
    Knocking first also keeps the SDK from leaving a socket open where nothing listens.
    """
    if not url.startswith("unix://"):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_TIMEOUT_S)
        probe.connect(url.removeprefix("unix://"))
        if sys.platform != "linux":
            return False
        peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _gid = struct.unpack("3i", peer)
    return pid > 0 and uid in {0, os.geteuid()}
