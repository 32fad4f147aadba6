"""Does a network rule match what would leave the box? Hosts, ends, methods and paths, ready to ask.

As elsewhere a rule that asks or denies is lenient: what it may mean, it means. One that allows
means what it says.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from orchestrator.policy.document import Default
from orchestrator.policy.git_requests import git_access, may_be_git
from orchestrator.policy.globs import GlobSet, compile_globs
from orchestrator.policy.hosts import is_address, special_name
from orchestrator.policy.layer import Layer
from orchestrator.policy.network_rules import NetworkRule
from orchestrator.policy.url_paths import plain_glob
from orchestrator.schema.egress import EgressRequest, Scheme
from orchestrator.schema.packages import READING, Ecosystem

USUAL_PORTS: dict[Scheme, int] = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class CompiledNetworkRule:
    """A rule with its hosts sorted and its globs ready."""

    rule: NetworkRule
    layer: str
    names: frozenset[str]
    suffixes: tuple[str, ...]
    """Each with its leading dot."""
    any_name: bool
    schemes: tuple[Scheme, ...]
    """Empty for any."""
    paths: GlobSet | None

    @property
    def name(self) -> str:
        """The rule's name among all layers', ``LAYER/RULE``."""
        return f"{self.layer}/{self.rule.id}"

    @property
    def votes(self) -> bool:
        """False for a project's yes, which is none."""
        return self.layer != "project" or self.rule.effect != "allow"

    @property
    def permits(self) -> bool:
        """Whether it lets something out, be it after a question."""
        return self.rule.effect != "deny" and self.votes

    def shuts(self, *, whole: bool) -> bool:
        """Say whether it refuses all requests to an end, or to a ``whole`` name."""
        rule = self.rule
        elsewhere = whole and bool(rule.ports or rule.schemes)
        return rule.effect == "deny" and not (rule.narrows or elsewhere)

    def covers_host(self, host: str) -> bool:
        """Say whether the rule speaks of a canonical host."""
        if host in self.names:
            return True
        if not (self.any_name or host.endswith(self.suffixes)):
            return False
        if self.rule.effect == "deny":
            return True
        if is_address(host):
            return False
        if special_name(host) is None:
            return True
        # A wildcard means what is near only where it says so itself.
        return any(host.endswith(suffix) and special_name(suffix[1:]) for suffix in self.suffixes)

    def covers(self, host: str, scheme: Scheme, port: int) -> bool:
        """Say whether it speaks of an end of a connection."""
        if self.schemes and scheme not in self.schemes:
            return False
        if self.rule.ports:
            at_port = port in self.rule.ports
        else:
            at_port = self.rule.effect != "allow" or port == USUAL_PORTS.get(scheme)
        return at_port and self.covers_host(host)

    def covers_request(self, method: str, path: str, *, query: str = "", upgrade: bool) -> bool:
        """Say whether it speaks of one reading of a request to an end that it covers."""
        rule = self.rule
        if rule.git and not self._covers_git(method, path, query):
            return False
        if rule.methods and method not in rule.methods:
            return False
        if upgrade and not rule.websocket and rule.effect != "deny":
            return False
        if rule.websocket and not upgrade and rule.effect == "deny":
            return False
        return self.paths is None or self.paths.match(path) is not None

    def _covers_git(self, method: str, path: str, query: str) -> bool:
        if self.rule.effect == "allow":
            return bool(git_access(method, path, query).intersection(self.rule.git))
        return any(may_be_git(access, path, query) for access in self.rule.git)


@dataclass(frozen=True, slots=True)
class NetworkLayer:
    """A layer's network section, ready to ask."""

    name: str
    default: Default
    """``delegate`` where the layer does not say."""
    rules: tuple[CompiledNetworkRule, ...]
    packages: tuple[Ecosystem, ...] = ()
    """Clients that it lets read from their servers, and no other layer takes away."""
    packages_private: tuple[str, ...] = ()
    max_upload: int | None = None
    """Bytes of a whole session."""
    max_download: int | None = None

    @property
    def lets_out_by_default(self) -> bool:
        """Whether its default is a vote for letting out."""
        if self.name == "project":
            return self.default == "ask"
        return self.default in {"allow", "ask"}

    @property
    def lets_out(self) -> bool | None:
        """Whether the layer would let anything out; None where it has no vote."""
        opened = self.packages and self.name != "project"
        if opened or self.lets_out_by_default or any(item.permits for item in self.rules):
            return True
        return False if self.default == "deny" else None


def compile_network(layer: Layer, *, wanted: Collection[str] = ()) -> NetworkLayer:
    """Return a layer's section; ``wanted`` are the package clients that all layers together let be."""
    network = layer.document.network
    if network is None:
        return NetworkLayer(layer.name, "delegate", ())
    return NetworkLayer(
        name=layer.name,
        default=network.default or "delegate",
        rules=tuple(_compiled(rule, layer.name) for rule in network.rules or ()),
        packages=tuple(client for client in network.packages or () if client in wanted),
        packages_private=network.packages_private or (),
        max_upload=network.max_upload,
        max_download=network.max_download,
    )


def package_rule(
    layer: NetworkLayer, client: Ecosystem, request: EgressRequest
) -> CompiledNetworkRule:
    """Return the rule that a layer's package client stands for, at the end that a request is for."""
    rule = NetworkRule.model_construct(
        id=f"packages:{client}",
        hosts=(request.host,),
        ports=(request.port,),
        schemes=(request.scheme,),
        methods=READING,
        private=layer.packages_private,
        effect="allow",
    )
    return _compiled(rule, layer.name)


def _compiled(rule: NetworkRule, layer: str) -> CompiledNetworkRule:
    lenient = rule.effect != "allow"
    schemes: tuple[Scheme, ...] = rule.schemes or (() if lenient else ("https",))
    globs = [plain_glob(glob) for glob in rule.paths]
    return CompiledNetworkRule(
        rule=rule,
        layer=layer,
        names=frozenset(host for host in rule.hosts if "*" not in host),
        suffixes=tuple(host[1:] for host in rule.hosts if host.startswith("*.")),
        any_name="*" in rule.hosts,
        schemes=schemes,
        paths=compile_globs(globs, fold=lenient, workspace="", home="") if globs else None,
    )
