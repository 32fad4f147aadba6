"""The rules on what leaves the box, and the credentials that go along on the host's side."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from orchestrator.policy.addresses import check_address, check_private
from orchestrator.policy.box_variables import check_variable
from orchestrator.policy.git_requests import GitAccess
from orchestrator.policy.globs import check_glob
from orchestrator.policy.hosts import HostRefused, canonical_host, is_address
from orchestrator.policy.rules import RuleId, Section, Text, Word
from orchestrator.policy.units import Size
from orchestrator.policy.url_paths import PathRefused, plain_glob
from orchestrator.schema.decision import Effect
from orchestrator.schema.egress import Scheme

Form = Literal["header", "basic", "query", "sigv4"]

FORMS: tuple[Form, ...] = ("header", "basic", "query", "sigv4")
_FIXED_LABELS = 2
_NO_HEADERS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that say how a message is sent; a credential in them would break it."""
_HEADER = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$"


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str | int) else value


def _host(value: Any) -> Any:
    """Check a host pattern; the text itself is kept, so that a file says what holds."""
    if not isinstance(value, str) or value == "*":
        return value
    wild = value.startswith("*.")
    name = value[2:] if wild else value
    try:
        host = canonical_host(name)
    except HostRefused as err:
        raise ValueError(
            f"host {value!r}: {err.reason}; expected a name, *.name, an address or *"
        ) from None
    if host != name:
        raise ValueError(f"host {value!r}: write {value.replace(name, host)!r}")
    if wild and is_address(host):
        raise ValueError(f"host {value!r}: an address has nothing below it")
    return value


def _path(value: Any) -> Any:
    if isinstance(value, str):
        try:
            plain = plain_glob(value)
            if plain != "/":
                check_glob(plain)
        except PathRefused as err:
            raise ValueError(f"path glob {value!r}: {err}") from None
    return value


def _method(value: Any) -> Any:
    if isinstance(value, str) and value != value.upper():
        raise ValueError(f"method {value!r}: write {value.upper()!r}; methods know case")
    if value in {"CONNECT", "TRACE"}:
        raise ValueError(f"method {value!r} is never let out inside of a connection")
    return value


def _private(value: Any) -> Any:
    if isinstance(value, str):
        check_private(value)
    return value


def _variable(value: str) -> str:
    check_variable(value)
    return value


HostPattern = Annotated[
    str, StringConstraints(min_length=1, max_length=260), BeforeValidator(_host)
]
UrlGlob = Annotated[Word, BeforeValidator(_path)]
Method = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z-]{0,30}$"), BeforeValidator(_method)]
PrivateRange = Annotated[Word, BeforeValidator(_private)]
Port = Annotated[int, Field(ge=1, le=65535)]
VariableName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,100}$"),
    AfterValidator(_variable),
]


class Injection(Section):
    """A credential the egress proxy adds, so that the box never holds it; in one of four forms."""

    secret: Annotated[
        str,
        StringConstraints(
            pattern=r"^(?:(?:vault|env|keyring):)?[A-Za-z0-9][A-Za-z0-9._/-]{0,120}$"
        ),
    ]
    """A key on the host: ``vault:NAME``, ``env:NAME``, ``keyring:NAME``, or a bare name, which is
    looked for wherever keys are kept."""
    header: Annotated[str, StringConstraints(pattern=_HEADER)] | None = None
    """Header that carries it."""
    format: Annotated[str, StringConstraints(pattern=r"^[^{}\r\n]*\{secret\}[^{}\r\n]*$")] = (
        "{secret}"
    )
    """Value of the header or parameter, with ``{secret}`` where the secret goes."""
    basic: Annotated[str, StringConstraints(pattern=r"^[^:\x00-\x1f\x7f]{0,100}$")] | None = None
    """User's name of a Basic ``Authorization``, with the secret as the password; git needs this."""
    query: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.~-]{1,100}$")] | None = None
    """Parameter of the query that carries it. Servers log these: prefer a header."""
    sigv4: (
        Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,40}/[a-z0-9-]{1,40}$")] | None
    ) = None
    """``REGION/SERVICE`` for which the request is signed anew; the secret is ``ID:KEY``."""
    variables: Annotated[tuple[VariableName, ...], BeforeValidator(_one_or_many)] = ()
    """Variables in the box that hold a placeholder, for programs that want a key to be there; none
    that steers programs, such as ``PATH``."""

    @model_validator(mode="after")
    def _one_form(self) -> Injection:
        given = [form for form in FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise ValueError(f"inject needs one of {', '.join(FORMS)}, got {got}")
        if self.format != "{secret}" and given[0] not in {"header", "query"}:
            raise ValueError(f"inject.format goes with header or query, not with {given[0]}")
        name = (self.header or "").lower()
        if name in _NO_HEADERS or name.startswith("proxy-"):
            raise ValueError(f"inject.header: {self.header} carries no credential to a server")
        return self

    @property
    def form(self) -> tuple[Form, str]:
        """The form that is given, and what is said of it."""
        return next((form, value) for form in FORMS if (value := getattr(self, form)) is not None)


class NetworkRule(Section):
    """A vote on requests that leave the box.

    Where ``ask`` and ``deny`` leave out ports and schemes, any is meant; where ``allow`` does, it
    is https on its usual port.
    """

    id: RuleId
    """Names the rule in decisions; a later rule with the same id replaces an earlier one."""
    effect: Effect
    """``allow``, ``ask`` (the answer may be remembered) or ``deny``."""
    hosts: Annotated[
        tuple[HostPattern, ...], BeforeValidator(_one_or_many), Field(min_length=1, max_length=500)
    ]
    """Exact names or addresses, ``*.x`` for any depth below x and not x itself, or ``*`` for any
    public name. Names of what is near (``localhost``, single labels, ``.internal``) and addresses
    are only matched by a rule that names them."""
    ports: Annotated[tuple[Port, ...], BeforeValidator(_one_or_many)] = ()
    """TCP ports; the usual ones of the schemes when left out."""
    schemes: Annotated[tuple[Scheme, ...], BeforeValidator(_one_or_many)] = ()
    """``https``, ``http`` or ``tcp``, which is bytes that nobody reads and needs ports."""
    methods: Annotated[tuple[Method, ...], BeforeValidator(_one_or_many)] = ()
    """HTTP methods; none given means any."""
    paths: Annotated[tuple[UrlGlob, ...], BeforeValidator(_one_or_many)] = ()
    """Globs of URL paths, without the query; none given means any."""
    git: Annotated[tuple[GitAccess, ...], BeforeValidator(_one_or_many)] = ()
    """Only requests of git's smart HTTP: ``read`` (clone, fetch), ``write`` (push) or both."""
    websocket: bool = False
    """A request may switch to WebSocket, after which nobody reads the bytes; with ``deny``, only
    such requests are meant."""
    inspect: bool | None = None
    """Connections are opened and each request in them is judged. Methods, paths, git, websocket
    and inject need that by themselves; ``false`` says that this rule must not."""
    inject: Injection | None = None
    """A credential added on the way out; by https only."""
    private: Annotated[
        tuple[PrivateRange, ...], BeforeValidator(_one_or_many), Field(validate_default=True)
    ] = ()
    """Address ranges that may be dialled besides public ones, such as ``10.1.0.0/16``; loopback
    only when it is written, link-local and metadata addresses never."""
    max_upload: Size | None = None
    """Bytes that one request, or one connection that nobody reads, may send."""
    max_download: Size | None = None
    """Bytes that it may get."""
    session_upload: Size | None = None
    """Bytes that all of a session may send under this rule."""
    session_download: Size | None = None
    """Bytes that all of a session may get under it."""
    reason: Text = ""
    """Why; shown to the person asked and to the program that was refused."""
    hint: Text = ""
    """What the model can do instead."""

    @property
    def reads_requests(self) -> bool:
        """Whether the rule can only be held against single requests."""
        return self.narrows or bool(self.inject or self.inspect is True)

    @property
    def narrows(self) -> bool:
        """Whether the rule speaks of some requests to its hosts only."""
        return bool(self.methods or self.paths or self.git or self.websocket)

    @field_validator("hosts")
    @classmethod
    def _wide_enough(cls, hosts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for host in hosts if info.data.get("effect") != "deny" else ():
            if host.startswith("*.") and host.count(".") < _FIXED_LABELS:
                raise ValueError(
                    f"host {host!r} is too wide; give at least two fixed labels, or '*' for every "
                    "public name"
                )
        return hosts

    @field_validator("private")
    @classmethod
    def _enough(cls, private: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for host in info.data.get("hosts", ()):
            if "*" in host or not is_address(host) or info.data.get("effect") == "deny":
                continue
            reason = check_address(host, private)
            if reason is not None:
                raise ValueError(
                    f"host {host!r} is {reason}: it is reached only where `private` has its range, "
                    "and link-local and metadata addresses never"
                )
        return private

    @model_validator(mode="after")
    def _consistent(self) -> NetworkRule:
        for mistake in (_of_schemes(self), _of_effect(self), _of_reach(self)):
            if mistake:
                raise ValueError(mistake)
        return self


def _of_schemes(rule: NetworkRule) -> str | None:
    if "tcp" in rule.schemes:
        if not rule.ports:
            return "scheme tcp needs ports"
        if rule.reads_requests:
            return (
                "scheme tcp is bytes that nobody reads: no methods, paths, git, websocket, inspect "
                "or inject; make a rule of its own for it"
            )
    if rule.inject and "http" in rule.schemes:
        return "inject goes by https alone; make a rule of its own for http"
    if rule.inspect is False and (rule.narrows or rule.inject):
        return "methods, paths, git, websocket and inject need inspect; take `inspect: false` away"
    return None


def _of_effect(rule: NetworkRule) -> str | None:
    if rule.effect != "deny":
        return None
    keys = ("inject", "private", "max_upload", "max_download", "session_upload", "session_download")
    given = [key for key in keys if getattr(rule, key)]
    return f"a rule that denies lets nothing out: it has no {' or '.join(given)}" if given else None


def _of_reach(rule: NetworkRule) -> str | None:
    if "*" not in rule.hosts:
        return None
    if rule.inject:
        return "inject goes with hosts that are named: with '*' anybody could have the credential"
    if rule.private:
        return "private goes with hosts that are named: with '*' anybody's name may lead there"
    return None
