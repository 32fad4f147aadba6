"""What would leave the box, what policy says of it, and what then passed.

One EgressRequest is judged, recorded and carried out, whichever door it came by. ``host`` is in
canonical form before anything is compared with it; ``target`` is as the client sent it, since a
server may read it in another way than we do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from orchestrator.schema.canonical import canonical_json
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest, digest_of

Door: TypeAlias = Literal["connect", "http", "inspected", "transparent", "dns", "model"]
"""How it came: a CONNECT, an absolute-form request, a request inside an inspected tunnel, a
connection of a program that ignores the proxy, a look-up of a name, the model endpoint."""

Scheme: TypeAlias = Literal["https", "http", "tcp"]
"""``tcp``: bytes that nobody reads on the way."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The program in the box that asked, as far as the box could tell: untrusted, for people."""

    pid: int
    program: str
    """Path of its executable."""
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EgressRequest:
    """One thing that would leave the box."""

    kind: ClassVar[str] = "egress"
    door: Door
    scheme: Scheme
    host: str
    """Canonical: lower case, A-labels, no trailing dot; or an address in its one usual spelling."""
    port: int
    """0 for a look-up of a name, which is for no port yet."""
    method: str | None = None
    """None for a tunnel or a look-up: nothing was asked inside of it yet."""
    target: str = ""
    """Path and query as sent, ASCII; empty where there is no method."""
    upgrade: str = ""
    """Protocol that a request wants to switch to, such as ``websocket``."""
    overrides: tuple[str, ...] = ()
    """Methods that headers ask the server to use instead."""
    other_paths: tuple[str, ...] = ()
    """Paths that headers ask the server to take instead, as sent but for scheme, host and query."""
    announced: int | None = field(default=None, compare=False)
    """Bytes that it says it sends, for the person who is asked; None where it does not say."""

    @property
    def path(self) -> str:
        """The target without its query, as sent."""
        return self.target.partition("?")[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that a server may take it to be for; of a request, not of a tunnel."""
        return (self.path or "/", *self.other_paths)


@dataclass(frozen=True, slots=True)
class InjectionTerms:
    """A credential that goes into a request on the host's side of the proxy."""

    rule: str
    secret: str
    """Reference to a secret: ``vault:NAME``, ``env:NAME``, ``keyring:NAME`` or a bare name."""
    form: Literal["header", "basic", "query", "sigv4"]
    name: str
    """Header, or parameter of the query; the user's name for ``basic``; ``REGION/SERVICE`` for
    ``sigv4``."""
    format: str = "{secret}"
    """The value, with ``{secret}`` where the secret goes."""
    variables: tuple[str, ...] = ()
    """Variables in the box that hold the placeholder."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes that a session may pass under one rule, or in all; None is no limit."""

    name: str
    """``LAYER/RULE``, or ``LAYER`` for a layer's whole session."""
    upload: int | None = None
    download: int | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a yes comes with; the strictest of all rules that said yes."""

    inspect: bool = False
    """The tunnel is opened here, and each request in it is judged."""
    private: tuple[str, ...] = ()
    """Address ranges, in CIDR form, that are allowed besides public ones."""
    injections: tuple[InjectionTerms, ...] = ()
    max_upload: int | None = None
    """Bytes that this request, or this tunnel, may send."""
    max_download: int | None = None
    budgets: tuple[Budget, ...] = ()


@dataclass(frozen=True, slots=True)
class EgressVerdict:
    """Policy's word on one request; the terms count only for what is allowed."""

    decision: Decision
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What passed, in bytes as the box sent and got them, and how it ended."""

    bytes_up: int = 0
    bytes_down: int = 0
    status: int | None = None
    """Of the HTTP answer."""
    address: str = ""
    """That was dialled, or was refused to be."""
    problem: str = ""
    """Why it ended early; empty for an end in order."""
    refused: str = ""
    """Rule by which it was refused after all, with an answer of the proxy in the server's place."""


def egress_to_wire(request: EgressRequest) -> dict[str, Any]:
    """Return the request as JSON data, with its ``kind``."""
    others = {"other_paths": list(request.other_paths)} if request.other_paths else {}
    return others | {
        "kind": request.kind,
        "door": request.door,
        "scheme": request.scheme,
        "host": request.host,
        "port": request.port,
        "method": request.method,
        "target": request.target,
        "upgrade": request.upgrade,
        "overrides": list(request.overrides),
    }


def egress_digest(request: EgressRequest) -> Digest:
    """Return the SHA-256 of the request's RFC 8785 canonical bytes; the door is no part of it."""
    return digest_of(canonical_json(egress_to_wire(request) | {"door": ""}))


def egress_subject(request: EgressRequest) -> str:
    """Return what a person must see whole: method and URL, or the end of a tunnel."""
    host = f"[{request.host}]" if ":" in request.host else request.host
    usual = {"https": 443, "http": 80}.get(request.scheme)
    place = host if request.port in {usual, 0} else f"{host}:{request.port}"
    if request.method is None:
        return f"look up {place}" if request.door == "dns" else f"connect to {place}"
    return f"{request.method} {request.scheme}://{place}{request.target}"
