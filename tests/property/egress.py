"""Policies, requests and spellings made at random, for what must hold of every verdict."""

from __future__ import annotations

import ipaddress
import posixpath
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from hypothesis import strategies as st

from orchestrator.policy.combine import combine
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.layer import BoxPaths, LayerName
from orchestrator.policy.load import policy_digest
from orchestrator.schema.egress import EgressRequest
from tests.unit.policy.conftest import layer_of

NAMES: tuple[LayerName, ...] = ("org", "team", "user", "project", "session")
HOSTS = (
    "a.example.com", "b.a.example.com", "example.com", "c.example.org", "db", "x.corp.internal",
    "localhost", "10.0.0.5", "203.0.113.9", "2001:db8::5",
)  # fmt: skip
PATTERNS = (*HOSTS, "*", "*.example.com", "*.corp.internal")
PATHS = ("/", "/v1/x", "/v1/..%2fadmin", "/admin", "/Admin", "/v1/a;b=c/x", "/o/r/info/refs")

_ENDS = (
    "", ", schemes: [https, http]", ", ports: [443, 8443]", ", schemes: tcp, ports: [443]",
    ", schemes: http",
)  # fmt: skip
_REST = (
    "", "", ", methods: GET", ", methods: [POST, DELETE]", ", paths: /v1/**", ", paths: [/admin, /]",
    ", websocket: true", ", git: read", ", inspect: true",
)  # fmt: skip
_LIMITS = ("", ", max_upload: 1KiB", ", max_upload: 2KiB, session_download: 1MiB")
_PRIVATE = ("", ", private: [10.0.0.0/8]", ", private: [10.0.0.5/32, 127.0.0.0/8]")


def rule_texts(effects: Sequence[str] = ("allow", "ask", "deny")) -> st.SearchStrategy[str]:
    """Rules without an id, each one that a policy may have."""

    def text(drawn: tuple[str, str, str, str, str, str]) -> str:
        host, effect, end, rest, limit, private = drawn
        if "tcp" in end:
            rest = ""
        if effect == "deny":
            limit = private = ""
        elif host == "*":
            private = ""
        elif host == "10.0.0.5":
            private = private or _PRIVATE[1]
        return f"hosts: '{host}', effect: {effect}{end}{rest}{limit}{private}"

    return st.tuples(
        st.sampled_from(PATTERNS),
        st.sampled_from(effects),
        st.sampled_from(_ENDS),
        st.sampled_from(_REST),
        st.sampled_from(_LIMITS),
        st.sampled_from(_PRIVATE),
    ).map(text)


def sections() -> st.SearchStrategy[str]:
    """Network sections of a layer."""
    defaults = st.sampled_from(("allow", "ask", "deny", "delegate"))
    return st.tuples(defaults, st.lists(rule_texts(), max_size=4)).map(
        lambda drawn: section_of(drawn[0], drawn[1])
    )


def section_of(default: str, rules: Sequence[str]) -> str:
    """Return a section as YAML."""
    listed = ", ".join(f"{{id: r{at}, {rule}}}" for at, rule in enumerate(rules))
    return f"network: {{default: {default}, rules: [{listed}]}}"


def policy_of(layers: Sequence[tuple[LayerName, str]]) -> EffectivePolicy:
    """Return the policy of layers, each a name and the text of its network section."""
    made = [layer_of(text, name) for name, text in layers]
    return combine(made, name="p", digest=policy_digest(made), box=BoxPaths())


def requests() -> st.SearchStrategy[EgressRequest]:
    """Requests of every door to the hosts of the rules."""
    host = st.sampled_from(HOSTS)
    end = st.sampled_from((("https", 443), ("https", 8443), ("http", 80), ("tcp", 443)))
    tunnel = st.tuples(host, end).map(
        lambda at: EgressRequest("connect", at[1][0], at[0], at[1][1])
    )
    lookup = host.map(lambda name: EgressRequest("dns", "https", name, 0))
    inside = st.tuples(
        host,
        st.sampled_from((("https", 443), ("https", 8443), ("http", 80))),
        st.sampled_from(("GET", "POST", "DELETE")),
        st.sampled_from(PATHS),
        st.sampled_from(("", "", "websocket")),
        st.sampled_from(((), (), ("delete",))),
    ).map(
        lambda drawn: EgressRequest(
            "inspected", drawn[1][0], drawn[0], drawn[1][1], drawn[2], drawn[3],
            drawn[4], drawn[5],
        )
    )  # fmt: skip
    return st.one_of(inside, inside, tunnel, lookup)


PIECES = (
    "v1", "admin", "..", ".", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "/", "/", "//", "%2f", "%5c",
    "\\", ";", ";a=b", "%3b", "..;", "%3f", "%23", "%20", "x", "%25", "%2525", "\uff0e".encode().hex(),
    "%ef%bc%8e%ef%bc%8e", "%ef%bc%8f", "~", "@s", "%00", "%c0%ae",
)  # fmt: skip


def paths() -> st.SearchStrategy[str]:
    """Paths made of what servers differ on."""
    return st.lists(st.sampled_from(PIECES), max_size=10).map(lambda found: "/v1/" + "".join(found))


_SERVER: tuple[Callable[[str], str], ...] = (
    unquote,
    lambda path: path.replace("\\", "/"),
    lambda path: re.sub(r";[^/]*", "", path),
    lambda path: re.sub(r"/+", "/", path),
    lambda path: posixpath.normpath(path) if path else "/",
    lambda path: path.partition("?")[0].partition("#")[0] or "/",
)


def lenient_reading(path: str, chance: random.Random) -> str:
    """Return what some chain of servers may make of a path; told apart from the code under test."""
    for _ in range(chance.randint(1, 9)):
        path = chance.choice(_SERVER)(path)
    return path


BLOCKED = tuple(
    map(
        ipaddress.IPv4Network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
         "100.64.0.0/10", "0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "198.18.0.0/15"),
    )
)  # fmt: skip


def blocked_addresses() -> st.SearchStrategy[ipaddress.IPv4Address]:
    """Addresses that are never public."""
    return st.tuples(st.sampled_from(BLOCKED), st.integers(0, 2**28 - 1)).map(
        lambda drawn: drawn[0][drawn[1] % drawn[0].num_addresses]
    )


def spellings(address: ipaddress.IPv4Address) -> list[str]:
    """Return texts that some program takes for the address, plain and hidden in IPv6."""
    number, parts = int(address), str(address).split(".")
    a, b, c, d = map(int, parts)
    high, low = number >> 16, number & 0xFFFF
    flipped = number ^ 0xFFFF_FFFF
    return [
        str(address), f"{address}.", str(number), hex(number), f"0{number:o}", f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{low}", ".".join(hex(int(part)) for part in parts),
        ".".join(f"0{int(part):o}" for part in parts), ".".join(f"{int(part):03d}" for part in parts),
        f"{a}.{b}.{c}.{hex(d)}", f"{a}.{b}.{c}.{d + 256}", f"::ffff:{address}", f"[::FFFF:{high:x}:{low:x}]",
        f"::{address}", f"::{high:x}:{low:x}", f"64:ff9b::{high:x}:{low:x}", f"64:ff9b::{address}",
        f"64:ff9b:1::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::", f"2002:{high:x}:{low:x}::1",
        f"2001:0:{high:x}:{low:x}::1", f"2001:0:808:808::{flipped >> 16:x}:{flipped & 0xFFFF:x}",
        f"fe80::5efe:{high:x}:{low:x}", f"2606:4700::5efe:{high:x}:{low:x}", f"::ffff:0:{address}",
        f"0:0:0:0:0:ffff:{high:x}:{low:x}", f"{address}%eth0", f"user@{address}", f"{address}\0.example",
        "".join(chr(ord(char) + 0xFEE0) if char.isdigit() else char for char in str(address)),
        str(address).replace(".", "\u3002"), str(address).replace(".", "%2e"),
    ]  # fmt: skip


NEAR = "a.example.com"
"""A name that leads to this machine."""
_BELOW = ("/open/**", "/api/**", "/api/echo", "")
_OPENED = ("", ", private: 127.0.0.0/8", ", private: 127.0.0.1/32", ", private: 10.0.0.0/8")


@dataclass(frozen=True)
class NearRule:
    """A rule of plain http to ``NEAR``."""

    effect: str
    path: str
    """Empty for any."""
    method: str
    private: str

    def text(self) -> str:
        """Return it as a policy has it, without an id."""
        paths = f", paths: {self.path}" if self.path else ""
        methods = f", methods: {self.method}" if self.method else ""
        opened = self.private if self.effect == "allow" else ""
        return f"hosts: {NEAR}, schemes: http, effect: {self.effect}{paths}{methods}{opened}"

    def speaks_of(self, method: str, path: str) -> bool:
        """Say whether it matches a request whose path has one reading."""
        below = self.path.removesuffix("/**")
        within = path == below or (self.path.endswith("/**") and path.startswith(f"{below}/"))
        return self.method in {"", method} and (not self.path or within)


def near_layers() -> st.SearchStrategy[list[tuple[LayerName, str, list[NearRule]]]]:
    """Layers by name, default and rules; what they open leads to this machine, or does not."""
    rule = st.builds(
        NearRule,
        st.sampled_from(("allow", "allow", "allow", "deny")),
        st.sampled_from(_BELOW),
        st.sampled_from(("", "GET")),
        st.sampled_from(_OPENED),
    )
    default = st.sampled_from(("deny", "delegate", "allow"))
    names: st.SearchStrategy[LayerName] = st.sampled_from(("org", "user", "session"))
    layer = st.tuples(names, default, st.lists(rule, max_size=4))
    return st.lists(layer, min_size=1, max_size=2, unique_by=lambda item: item[0])


def near_targets() -> st.SearchStrategy[str]:
    """Targets with none, one or many readings; the last of their pieces is no blank."""
    piece = st.sampled_from(
        ("/open", "/api", "/echo", "/..", "/.", "/%2e%2e", "%2f", "/%252e%252e", ";a=b", "//", "/x")
    )
    odd = st.sampled_from(("", "", "", "", " ", "%zz", "\u00e9", "\x01", "?q=a b", "?q=1"))
    start = st.sampled_from(("/open", "/api", "/open/../api"))
    return st.tuples(start, st.lists(piece, max_size=3), odd).map(
        lambda drawn: f"{drawn[0]}{''.join(drawn[1])}{drawn[2]}/echo"
    )


def lets(layers: Sequence[tuple[LayerName, str, list[NearRule]]], method: str, path: str) -> bool:
    """Say whether a request with this one reading reaches this machine; told apart from the code."""
    votes = []
    for _, default, rules in layers:
        found = [rule for rule in rules if rule.speaks_of(method, path)]
        opens = any("127." in rule.private for rule in found)
        if found:
            votes.append(opens and all(rule.effect == "allow" for rule in found))
        elif default != "delegate":
            votes.append(False)
    return bool(votes) and all(votes)
