"""What is valid in a policy's network section and yet unlikely to be meant."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from orchestrator.policy.addresses import near_name
from orchestrator.policy.document import Default
from orchestrator.policy.hosts import is_address, special_name
from orchestrator.policy.layer import Layer
from orchestrator.policy.network_match import (
    USUAL_PORTS,
    CompiledNetworkRule,
    compile_network,
)
from orchestrator.policy.yaml_nodes import Place
from orchestrator.schema.egress import Scheme

_WIDE = {4: 16, 6: 48}
"""Bits of the prefix below which a range is a whole network of networks."""
_OWN_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_SCHEMES: tuple[Scheme, ...] = ("https", "http", "tcp")


def lint_network(layer: Layer) -> Iterator[tuple[Place, str]]:
    """Yield remarks on a layer's network section, each with its line."""
    network = compile_network(layer)
    if network.default == "allow":
        yield (
            layer.place_of("network", "default"),
            "network.default is allow: any public host may be reached, and sent to",
        )
    for at, item in enumerate(network.rules):
        place = layer.place_of_rule(item.rule.id) or layer.place_of("network", "rules")
        others = [*network.rules[:at], *network.rules[at + 1 :]]
        for text in (
            *_on_effect(item, network.default),
            *_on_reach(item),
            *_on_own_names(item),
            *_on_paths(item),
            *_on_credential(item, network.rules[:at]),
            *_on_others(item, others, network.rules[:at]),
        ):
            yield place, f"rule {item.rule.id!r} {text}"


def _on_effect(item: CompiledNetworkRule, default: Default) -> Iterator[str]:
    rule = item.rule
    if rule.effect == "deny" and not rule.reason:
        yield "denies without a reason; the model does better when it is told one"
    if rule.effect == "ask" and item.any_name:
        yield "asks about any public name; a person who is asked often stops reading"
    if rule.effect == "allow" and default == "allow" and not (rule.inject or rule.private):
        yield "allows what network.default allows anyway"
    if rule.effect == "deny" and default == "allow":
        bare = [name for name in item.names if f".{name}" not in item.suffixes]
        for name in sorted(name for name in bare if not is_address(name)):
            yield f"denies {name} but not what is below it: add '*.{name}'"


def _on_reach(item: CompiledNetworkRule) -> Iterator[str]:
    rule = item.rule
    if rule.effect == "allow" and item.any_name:
        yield "allows any public name: whatever is in the box may be sent anywhere"
    if rule.effect == "allow" and "http" in item.schemes:
        yield "allows plain http: whoever is on the way reads it and may change it"
    for cidr in rule.private:
        network = ipaddress.ip_network(cidr)
        if near_name(cidr) == "loopback":
            yield f"opens {cidr}: services that only this machine should reach"
        elif network.prefixlen < _WIDE[network.version]:
            yield f"opens {cidr}, which is {network.num_addresses} addresses"
    if rule.private and item.suffixes:
        yield "opens a range to every name that fits: whoever owns one leads it where they like"
    if rule.effect != "deny" and not rule.private:
        for name in sorted(name for name in item.names if not is_address(name)):
            if special_name(name):
                yield f"names {name}, which has no public address: `private` must name its range"


def _on_own_names(item: CompiledNetworkRule) -> Iterator[str]:
    """Names that programs in the box take for the box itself, and ask no proxy for."""
    below = [f"*{suffix}" for suffix in item.suffixes if suffix.endswith(".localhost")]
    own = [name for name in item.names if name in _OWN_NAMES or name.endswith(".localhost")]
    if item.rule.effect != "deny" and (own or below):
        yield (
            f"names {', '.join(sorted((*own, *below)))}, which to programs in the box is the box "
            "itself (NO_PROXY): few ever ask the proxy for it. For a server beside the box use "
            "`services`; give one on this machine another name, in its hosts file or name service, "
            "and let that out with `private`"
        )


def _on_paths(item: CompiledNetworkRule) -> Iterator[str]:
    for glob in item.rule.paths:
        _, mark, rest = glob.replace("[?]", "").partition("?")
        if mark and "/" not in rest:
            yield (
                f"has '?' in {glob!r}, which stands for one character there and begins no query: "
                "paths are judged without it"
            )


def _on_credential(
    item: CompiledNetworkRule, before: Sequence[CompiledNetworkRule]
) -> Iterator[str]:
    inject = item.rule.inject
    if inject is None:
        return
    if item.suffixes or item.any_name:
        yield "sends a credential to whatever name fits; name the host exactly"
    if not item.rule.paths:
        yield "sends a credential to every path of its hosts; name the paths"
    if not (item.rule.methods or item.rule.git):
        yield "sends a credential along with every method; name the methods"
    if inject.query is not None:
        yield "puts a credential into the query, which servers write into their logs"
    for other in before:
        rival = other.rule.inject
        if (
            rival
            and rival.form == inject.form
            and rival.secret != inject.secret
            and _meet(other, item)
        ):
            yield f"and {other.rule.id!r} have different credentials for one place; such a request is refused"


def _on_others(
    item: CompiledNetworkRule,
    others: Sequence[CompiledNetworkRule],
    before: Sequence[CompiledNetworkRule],
) -> Iterator[str]:
    for other in others:
        stricter = other.rule.effect == "deny" and item.rule.effect != "deny"
        same = other.rule.effect == item.rule.effect and other in before and _bare(item)
        if (stricter or same) and _covers(other, item):
            does = (
                "never counts: all of it is denied" if stricter else "adds nothing: it is covered"
            )
            yield f"{does} by {other.rule.id!r}"
            return


def _bare(item: CompiledNetworkRule) -> bool:
    """Say whether the rule is its effect and nothing more."""
    rule = item.rule
    return not (
        rule.inject
        or rule.private
        or rule.max_upload
        or rule.max_download
        or rule.session_upload
        or rule.session_download
        or rule.inspect
        or rule.websocket
    )


def _covers(wide: CompiledNetworkRule, narrow: CompiledNetworkRule) -> bool:
    """Say whether all that ``narrow`` speaks of, ``wide`` speaks of; a no may be wrong."""
    if wide.rule.effect == "deny" and wide.rule.websocket:
        return False
    if narrow.any_name and not wide.any_name:
        return False
    below = [f"x{suffix}" for suffix in narrow.suffixes]
    if not all(wide.covers_host(host) for host in (*narrow.names, *below)):
        return False
    if not all(_at_end(wide, scheme, port) for scheme, port in _ends(narrow)):
        return False
    methods, paths = wide.rule.methods, wide.rule.paths
    if methods and not (narrow.rule.methods and set(narrow.rule.methods) <= set(methods)):
        return False
    if wide.rule.git and not (narrow.rule.git and set(narrow.rule.git) <= set(wide.rule.git)):
        return False
    everything = not paths or "/**" in paths
    return everything or bool(narrow.rule.paths and set(narrow.rule.paths) <= set(paths))


def _meet(one: CompiledNetworkRule, other: CompiledNetworkRule) -> bool:
    """Say whether a name of one is a name that the other speaks of."""
    return any(one.covers_host(name) for name in other.names) or any(
        other.covers_host(name) for name in one.names
    )


def _ends(item: CompiledNetworkRule) -> Iterator[tuple[Scheme, int]]:
    for scheme in item.schemes or _SCHEMES:
        for port in item.rule.ports or (USUAL_PORTS.get(scheme, 0),):
            yield scheme, port


def _at_end(item: CompiledNetworkRule, scheme: Scheme, port: int) -> bool:
    if item.schemes and scheme not in item.schemes:
        return False
    if item.rule.ports:
        return port in item.rule.ports
    return item.rule.effect != "allow" or port == USUAL_PORTS.get(scheme)
