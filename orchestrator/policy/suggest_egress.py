"""The narrowest rule that would let a refused request out: a draft for the policy's owner."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.policy.addresses import check_address
from orchestrator.policy.egress_floor import shape_refusal
from orchestrator.policy.git_requests import git_access
from orchestrator.policy.globs import check_glob
from orchestrator.policy.hosts import is_address, special_name
from orchestrator.policy.network_match import USUAL_PORTS
from orchestrator.policy.url_paths import readings_of
from orchestrator.schema.decision import Effect
from orchestrator.schema.egress import EgressRequest, EgressVerdict

_ID = re.compile(
    r"[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[a-f]*[0-9])[0-9a-f]{12,128}"
)
"""Segments that name one thing among many: numbers, UUIDs, hashes."""
_LIFTED = frozenset(
    {"default:network", "unmatched", "special-name", "unnamed-address", "private-address"}
)
"""Refusals that a further rule can turn; a rule that denies wins over any other."""
_GIT = re.compile(r"(.*)/(?:info/refs|git-upload-pack|git-receive-pack)\Z")


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule of ``network.rules`` that lets one kind of request out."""

    host: str
    scheme: str
    port: int
    methods: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    git: tuple[str, ...] = ()
    websocket: bool = False
    private: str = ""

    def lines(self, rule_id: str, effect: Effect) -> Iterator[str]:
        """Yield the rule as one item of a YAML list."""
        yield f"- id: {rule_id}"
        yield f"  effect: {effect}"
        yield f"  hosts: [{_word(self.host)}]"
        if self.scheme != "https":
            yield f"  schemes: [{self.scheme}]"
        if self.port != {str(key): port for key, port in USUAL_PORTS.items()}.get(self.scheme):
            yield f"  ports: [{self.port}]"
        if self.git:
            yield f"  git: [{', '.join(self.git)}]"
        if self.methods:
            yield f"  methods: [{', '.join(self.methods)}]"
        if self.paths:
            yield f"  paths: [{', '.join(map(_word, self.paths))}]"
        if self.websocket:
            yield "  websocket: true"
        if self.private:
            yield f"  private: [{_word(self.private)}]"
        elif special_name(self.host):
            yield "  # private: [the range of its address]"


def suggest_rule(
    request: EgressRequest, verdict: EgressVerdict, *, address: str = ""
) -> str | None:
    """Return an item for ``network.rules`` that lets the request out; None where no rule could.

    ``address`` is what its name has, where that was why it was refused. What is shown to the box
    must not come from here: it would tell the box what to ask a person for.
    """
    decision = verdict.decision
    if decision.effect == "deny" and decision.rule not in _LIFTED and not address:
        return None
    draft = draft_of(request, address=address)
    if draft is None:
        return None
    return "\n".join(draft.lines(rule_id(draft), "allow")) + "\n"


def draft_of(request: EgressRequest, *, address: str = "") -> RuleDraft | None:
    """Return the narrowest rule that a request matches; None where a policy can say none."""
    if request.door == "dns" or shape_refusal(request) is not None:
        return None
    private = _private(request.host, address)
    if private is None:
        return None
    if request.method is None:
        return RuleDraft(request.host, request.scheme, request.port, private=private)
    methods = (request.method, *(item.upper() for item in request.overrides))
    query = request.target.partition("?")[2]
    git = git_access(request.method, request.path, query)
    found = _GIT.fullmatch(request.path) if git else None
    paths = _paths((f"{found[1]}/**",) if found else readings_of(request.paths))
    if paths is None:
        return None
    access = ("write",) if git == {"write"} else ("read",)
    return RuleDraft(
        host=request.host,
        scheme=request.scheme,
        port=request.port,
        methods=() if found else tuple(dict.fromkeys(methods)),
        paths=paths,
        git=access if found else (),
        websocket=bool(request.upgrade),
        private=private,
    )


def rule_id(draft: RuleDraft) -> str:
    """Return a rule's id that says what it is for."""
    what = draft.git or draft.methods or (str(draft.port),)
    return re.sub(r"[^a-z0-9]+", "-", f"{draft.host}-{what[0]}".lower()).strip("-")[:60]


def _private(host: str, address: str) -> str | None:
    """Return the range that must be opened, an empty text for none; None where none may be."""
    dialled = address or (host if is_address(host) else "")
    if not dialled or check_address(dialled) is None:
        return ""
    try:
        alone = str(ipaddress.ip_network(dialled))
    except ValueError:
        return None
    return alone if check_address(dialled, [alone]) is None else None


def _paths(found: Sequence[str]) -> tuple[str, ...] | None:
    globs = tuple(dict.fromkeys(_glob(path) for path in found))
    try:
        for glob in globs:
            if glob != "/":
                check_glob(glob)
    except ValueError:
        # Dots and doubled slashes: no rule says them, and no ordinary client sends them.
        return None
    return globs


def _glob(path: str) -> str:
    if path.endswith("/**"):
        return _glob(path[:-3]) + "/**"
    parts = ["*" if _ID.fullmatch(part) else _literal(part) for part in path.split("/")]
    return "/".join(parts)


def _literal(text: str) -> str:
    """Return a glob that matches the text alone."""
    return "".join(f"[{char}]" if char in "*?[{" else char for char in text.replace("\\", "\\\\"))


def _word(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
