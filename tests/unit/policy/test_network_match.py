"""Whether a network rule matches."""

import pytest

from orchestrator.policy.network_match import compile_network, package_rule
from tests.support.egress import request


@pytest.fixture
def rule(layer):
    """Compiles one rule of a layer."""

    def build(text, name="session"):
        network = compile_network(layer(f"network: {{rules: [{{id: r, {text}}}]}}", name))
        return network.rules[0]

    return build


@pytest.mark.parametrize(
    ("hosts", "host", "allow", "deny"),
    [
        ("a.example.com", "a.example.com", True, True),
        ("a.example.com", "b.a.example.com", False, False),
        ("'*.example.com'", "b.a.example.com", True, True),
        ("'*.example.com'", "example.com", False, False),
        ("'*.example.com'", "notexample.com", False, False),
        ("'*'", "example.com", True, True),
        ("'*'", "localhost", False, True),
        ("'*'", "203.0.113.7", False, True),
        ("203.0.113.7", "203.0.113.7", True, True),
        ("'*.corp.internal'", "git.corp.internal", True, True),
        ("'*.corp.internal'", "git.other.internal", False, False),
        ("db", "db", True, True),
    ],
)
def test_hosts(rule, hosts, host, allow, deny):
    """A wildcard means public names, unless it refuses or names what is near itself."""
    assert rule(f"hosts: {hosts}, effect: allow").covers_host(host) == allow
    assert rule(f"hosts: {hosts}, effect: ask").covers_host(host) == allow
    assert rule(f"hosts: {hosts}, effect: deny").covers_host(host) == deny


@pytest.mark.parametrize(
    ("ends", "scheme", "port", "allow", "lenient"),
    [
        ("", "https", 443, True, True),
        ("", "https", 8443, False, True),
        ("", "http", 80, False, True),
        ("", "tcp", 22, False, True),
        (", schemes: http", "http", 80, True, True),
        (", schemes: http", "http", 8080, False, True),
        (", schemes: http", "https", 443, False, False),
        (", ports: 8443", "https", 8443, True, True),
        (", ports: 8443", "https", 443, False, False),
        (", schemes: [http, https], ports: [8080]", "http", 8080, True, True),
    ],
)
def test_ends(rule, ends, scheme, port, allow, lenient):
    """What is left out means the usual to a permit, and any to a question or refusal."""
    text = f"hosts: a.example.com{ends}, effect: "

    assert rule(f"{text}allow").covers("a.example.com", scheme, port) == allow
    assert rule(f"{text}ask").covers("a.example.com", scheme, port) == lenient
    assert rule(f"{text}deny").covers("a.example.com", scheme, port) == lenient
    assert not rule(f"{text}deny").covers("b.example.com", scheme, port)


def test_requests(rule):
    """Methods as they are, paths by their globs, a switch of protocol where it is said."""
    allow = rule("hosts: a.example.com, methods: GET, paths: /v1/**, effect: allow")
    deny = rule("hosts: a.example.com, methods: GET, paths: /v1/**, effect: deny")
    socket = rule("hosts: a.example.com, websocket: true, effect: allow")
    no_socket = rule("hosts: a.example.com, websocket: true, effect: deny")

    assert allow.covers_request("GET", "/v1/x", upgrade=False)
    assert not allow.covers_request("HEAD", "/v1/x", upgrade=False)
    assert not allow.covers_request("GET", "/V1/x", upgrade=False)
    assert not allow.covers_request("GET", "/v1/x", upgrade=True)
    assert deny.covers_request("GET", "/V1/x", upgrade=True)
    assert socket.covers_request("GET", "/", upgrade=True)
    assert socket.covers_request("POST", "/", upgrade=False)
    assert no_socket.covers_request("GET", "/", upgrade=True)
    assert not no_socket.covers_request("GET", "/", upgrade=False)


def test_git(rule):
    """A permit takes git at its word, a question or refusal takes what may be meant."""
    read = rule("hosts: git.example.com, git: read, effect: allow")
    ask = rule("hosts: git.example.com, git: write, effect: ask")
    refs, upload, receive = "/r/info/refs", "service=git-upload-pack", "service=git-receive-pack"

    assert read.covers_request("GET", refs, query=upload, upgrade=False)
    assert read.covers_request("POST", "/r/git-upload-pack", upgrade=False)
    assert read.covers_request("GET", refs, query=receive, upgrade=False)
    assert not read.covers_request("POST", "/r/git-receive-pack", upgrade=False)
    assert not read.covers_request("GET", "/r/HEAD", upgrade=False)
    assert ask.covers_request("GET", refs, query=receive, upgrade=False)
    assert ask.covers_request("GET", refs, query="service=GIT-receive%2dpack", upgrade=False)
    assert not ask.covers_request("GET", refs, query=upload, upgrade=False)
    assert read.rule.reads_requests


@pytest.mark.parametrize(
    ("keys", "end", "name"),
    [
        ("", True, True),
        (", ports: 22", True, False),
        (", methods: POST", False, False),
        (", git: write", False, False),
    ],
)
def test_what_a_refusal_shuts(rule, keys, end, name):
    """An end of a connection, or a name with all its ends."""
    deny = rule(f"hosts: a.example.com{keys}, effect: deny")

    assert (deny.shuts(whole=False), deny.shuts(whole=True)) == (end, name)
    assert not rule("hosts: a.example.com, effect: allow").shuts(whole=False)


def test_a_projects_yes_is_no_vote(rule):
    """Its questions and refusals count."""
    text = "hosts: a.example.com, effect: "

    assert not rule(f"{text}allow", "project").votes
    assert not rule(f"{text}allow", "project").permits
    assert rule(f"{text}ask", "project").permits
    assert rule(f"{text}allow").name == "session/r"


def test_a_package_client_is_a_rule_at_the_end_it_is_asked_for(layer):
    """To read, and nothing else; its path was looked at by who knows the client."""
    network = compile_network(
        layer("network: {default: ask, packages: [pip, npm], packages_private: [10.0.0.0/8]}"),
        wanted=("pip",),
    )
    rule = package_rule(network, "pip", request("GET http://pip:8080/x"))

    assert network.packages == ("pip",)
    assert (rule.rule.id, rule.rule.private) == ("packages:pip", ("10.0.0.0/8",))
    assert rule.covers("pip", "http", 8080)
    assert not rule.covers("pip", "https", 8080)
    assert rule.covers_request("HEAD", "/any", upgrade=False)
    assert not rule.covers_request("PUT", "/any", upgrade=False)


@pytest.mark.parametrize(
    ("section", "name", "default", "anything"),
    [
        ("network: {default: allow}", "session", True, True),
        ("network: {default: ask}", "project", True, True),
        ("network: {default: allow}", "project", False, None),
        ("network: {default: deny}", "user", False, False),
        ("network: {default: deny, packages: [pip]}", "user", False, True),
        ("network: {max_upload: 1KiB}", "user", False, None),
        ("limits: {steps: 1}", "user", False, None),
        ("network: {rules: [{id: r, hosts: a.b, effect: ask}]}", "user", False, True),
    ],
)
def test_what_a_layer_would_let_out(layer, section, name, default, anything):
    """By default, and at all."""
    network = compile_network(layer(section, name), wanted=("pip",))

    assert (network.lets_out_by_default, network.lets_out) == (default, anything)
