"""The verdict on what would leave the box."""

from dataclasses import replace

import pytest

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.schema.egress import Budget, EgressRequest
from tests.support.egress import judge, request


@pytest.fixture
def network(load):
    """Loads a policy with these network rules, one a line, and perhaps more of the section."""

    def build(*rules: str, section: str = "default: deny", user: str | None = None):
        listed = "".join(f"\n    - {{id: r{at}, {rule}}}" for at, rule in enumerate(rules, 1))
        keys = section.replace(", ", "\n  ")
        return load(p=f"network:\n  {keys}\n  rules:{listed or ' []'}\n", user=user)

    return build


API = "hosts: api.example.com, methods: GET, paths: /v1/**, effect: allow"
TUNNEL = "hosts: api.example.com, effect: allow"


@pytest.mark.parametrize(
    ("text", "effect", "rule"),
    [
        ("CONNECT api.example.com:443", "allow", "r1"),
        ("GET https://api.example.com/", "allow", "r1"),
        ("CONNECT api.example.com:8443", "deny", "default:network"),
        ("CONNECT other.example.com:443", "deny", "default:network"),
        ("CONNECT sub.api.example.com:443", "deny", "default:network"),
        ("CONNECT api.example.com.evil.example:443", "deny", "default:network"),
        ("GET http://api.example.com/", "deny", "default:network"),
        ("LOOKUP api.example.com", "allow", "r1"),
        ("LOOKUP x.api.example.com", "deny", "default:network"),
        ("CONNECT 203.0.113.10:443", "deny", "unnamed-address"),
        ("CONNECT localhost:443", "deny", "special-name"),
        ("CONNECT 127.1:443", "deny", "odd-address"),
        ("CONNECT u@api.example.com:443", "deny", "bad-host"),
        ("TRACE https://api.example.com/", "deny", "bad-request"),
        ("GET https://api.example.com/%00", "deny", "bad-path"),
    ],
)
def test_a_rule_lets_out_what_it_names_and_no_more(network, text, effect, rule):
    """One host, https, its usual port."""
    decision = judge(network(TUNNEL), text).decision

    assert (decision.effect, decision.rule) == (effect, rule)
    assert decision.reason
    assert decision.hint or effect == "allow"


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("GET https://api.example.com/v1/x?next=../admin", "allow"),
        ("GET https://api.example.com/v1/a%20b", "allow"),
        ("GET https://api.example.com/v1", "allow"),
        ("POST https://api.example.com/v1/x", "deny"),
        ("GET https://api.example.com/V1/x", "deny"),
        ("GET https://api.example.com/v1evil/x", "deny"),
        ("GET https://api.example.com/v1/..%2fadmin", "deny"),
        ("GET wss://api.example.com/v1/ws", "deny"),
    ],
)
def test_methods_and_paths_are_held_in_every_reading(network, text, effect):
    """The query is no part of the path."""
    assert judge(network(API), text).decision.effect == effect


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("GET https://git.example.com/a/b.git/info/refs?service=git-upload-pack", "allow"),
        ("POST https://git.example.com/a/b.git/git-upload-pack", "allow"),
        ("GET https://git.example.com/a/b.git/info/refs?service=git-receive-pack", "allow"),
        ("GET https://git.example.com/c/b.git/info/refs?service=git-receive-pack", "ask"),
        ("GET https://git.example.com/a/b.git/info/refs?service=git%2Dreceive-pack", "ask"),
        ("POST https://git.example.com/a/b.git/git-receive-pack", "ask"),
        ("POST https://git.example.com/a/b.git/git%2Dreceive-pack", "ask"),
        ("GET https://git.example.com/a/b.git/info/refs?service=git-upload%2Dpack", "deny"),
        ("GET https://git.example.com/other/b.git/info/refs?service=git-upload-pack", "deny"),
        ("POST https://git.example.com/a/b.git/info/lfs/objects/batch", "deny"),
        ("GET https://git.example.com/a/b.git/HEAD", "deny"),
    ],
)
def test_git_is_told_by_path_and_service(network, text, effect):
    """Fetching is let out, pushing is asked about, once, and nothing else is git."""
    policy = network(
        "hosts: git.example.com, git: read, paths: /a/**, effect: allow",
        "hosts: git.example.com, git: write, effect: ask",
    )

    assert judge(policy, text).decision.effect == effect


def test_push_that_would_be_refused_is_refused_when_it_begins(network):
    """With fetching alone allowed, git learns at once that it may not push."""
    policy = network("hosts: git.example.com, git: read, effect: allow")
    denying = network(
        "hosts: git.example.com, git: read, effect: allow",
        "hosts: git.example.com, git: write, effect: deny",
    )
    text = "GET https://git.example.com/a.git/info/refs?service="

    assert judge(policy, f"{text}git-upload-pack").decision.effect == "allow"
    assert judge(policy, f"{text}git-receive-pack").decision.effect == "deny"
    assert judge(denying, f"{text}git-receive-pack").decision.effect == "deny"


def test_a_tunnel_is_opened_where_a_rule_reads_requests(network):
    """So each request in it is judged; the tunnel itself carries no limit and no credential."""
    inject = "inject: {secret: s, header: Authorization}, max_upload: 1MiB, session_upload: 2MiB"
    verdict = judge(network(f"{API}, {inject}"), "CONNECT api.example.com:443")

    assert verdict.decision.effect == "allow"
    assert verdict.terms.inspect
    assert (verdict.terms.injections, verdict.terms.max_upload) == ((), None)
    assert verdict.terms.budgets == ()


def test_a_tunnel_that_is_asked_about_inside_is_opened_without_a_question(network):
    """The question comes with the request, when it can be shown."""
    policy = network("hosts: a.example.com, methods: POST, effect: ask", API)

    assert judge(policy, "CONNECT a.example.com:443").decision.effect == "allow"
    assert judge(policy, "LOOKUP a.example.com").decision.effect == "allow"
    assert judge(policy, "POST https://a.example.com/").decision.effect == "ask"
    assert judge(policy, "GET https://a.example.com/").decision.effect == "deny"


def test_a_tunnel_nobody_reads_is_asked_about_as_a_whole(network):
    """And its limits are on it."""
    policy = network(
        "hosts: a.example.com, effect: ask, reason: why not, max_upload: 1KiB",
        section="default: deny, max_download: 1MiB",
    )
    verdict = judge(policy, "CONNECT a.example.com:443")

    assert (verdict.decision.effect, verdict.decision.reason) == ("ask", "why not")
    assert not verdict.terms.inspect
    assert verdict.terms.max_upload == 1024
    assert verdict.terms.budgets == (Budget("session", None, 2**20),)


@pytest.mark.parametrize(
    "deny",
    [
        "hosts: blocked.example.com",
        "hosts: '*.example.com'",
        "hosts: '*'",
        "hosts: '*', ports: 443",
    ],
)
def test_a_refusal_wins_over_a_wider_permit(network, deny):
    """In one layer too, whatever order they stand in."""
    policy = network("hosts: '*', effect: allow", f"{deny}, effect: deny")
    other = network(f"{deny}, effect: deny", "hosts: '*', effect: allow")

    for each in (policy, other):
        assert judge(each, "CONNECT blocked.example.com:443").decision.effect == "deny"
        assert judge(each, "GET https://blocked.example.com/").decision.effect == "deny"


def test_a_refusal_is_lenient_about_case_port_and_scheme(network):
    """What it may mean, it means."""
    deny = "hosts: a.example.com, paths: /admin/**, effect: deny"
    policy = network("hosts: a.example.com, schemes: [https, http], effect: allow", deny)

    assert judge(policy, "GET https://a.example.com/Admin/x").decision.rule == "r2"
    assert judge(policy, "GET http://a.example.com/admin").decision.rule == "r2"
    assert judge(policy, "GET https://a.example.com/x/..%2fadmin").decision.rule == "r2"
    assert judge(policy, "GET https://a.example.com/x").decision.effect == "allow"
    assert judge(policy, "CONNECT a.example.com:443").terms.inspect


def test_a_refusal_of_one_part_leaves_the_look_up(network):
    """A name is only unknown where nothing on it could be let out."""
    allow = "hosts: a.example.com, effect: allow"
    part = network(allow, "hosts: a.example.com, ports: 8443, effect: deny")
    whole = network(allow, "hosts: a.example.com, effect: deny")

    assert judge(part, "LOOKUP a.example.com").decision.effect == "allow"
    assert judge(part, "CONNECT a.example.com:443").decision.effect == "allow"
    assert judge(whole, "LOOKUP a.example.com").decision.effect == "deny"


def test_header_that_names_another_path_is_judged_as_that_one_too(network):
    """In every reading; where no rule reads paths there is none that it may not be."""
    policy = network("hosts: a.example.com, paths: /open/**, effect: allow")
    bare = network("hosts: a.example.com, methods: [GET], effect: allow")
    plain = request("GET https://a.example.com/open/x")

    def effect(*paths: str, policy: EffectivePolicy = policy) -> str:
        return EgressRules(policy).judge(replace(plain, other_paths=paths)).decision.effect

    assert (effect(), effect("/open/y"), effect("/open/y", "/open")) == ("allow",) * 3
    assert effect("/admin") == effect("/open/%2e%2e/admin") == effect("/open/y", "/x") == "deny"
    assert effect("/admin", policy=bare) == "allow"


def test_header_that_names_another_method_is_judged_as_that_one_too(network):
    """A server may follow it."""
    policy = network("hosts: a.example.com, methods: [GET, POST], effect: allow")
    plain = request("POST https://a.example.com/x")

    def effect(*overrides: str) -> str:
        return EgressRules(policy).judge(replace(plain, overrides=overrides)).decision.effect

    assert (effect(), effect("get"), effect("DELETE"), effect("GET", "delete")) == (
        "allow",
        "allow",
        "deny",
        "deny",
    )
    assert effect("de lete") == "deny"
    assert effect(*["GET"] * 4) == "deny"


def test_websocket_needs_a_rule_that_says_so(network):
    """With ``deny`` the rule means nothing else."""
    allowed = network("hosts: a.example.com, websocket: true, effect: allow")
    refused = network(
        "hosts: a.example.com, effect: allow",
        "hosts: a.example.com, websocket: true, effect: deny",
        section="default: allow",
    )

    assert judge(allowed, "GET wss://a.example.com/ws").decision.effect == "allow"
    assert judge(allowed, "POST wss://a.example.com/ws").decision.rule == "bad-request"
    assert judge(refused, "GET wss://a.example.com/ws").decision.rule == "r2"
    assert judge(refused, "GET https://a.example.com/ws").decision.effect == "allow"
    h2c = replace(request("GET http://a.example.com/"), upgrade="h2c")
    assert EgressRules(allowed).judge(h2c).decision.rule == "bad-request"


@pytest.mark.parametrize(
    ("rule", "effect", "why"),
    [
        ("hosts: 10.0.0.5, private: 10.0.0.0/24", "allow", "r1"),
        ("hosts: '*'", "deny", "unnamed-address"),
        ("hosts: x.example.com", "deny", "unnamed-address"),
    ],
)
def test_an_address_is_reached_by_a_rule_that_names_it(network, rule, effect, why):
    """And, where it is near, that opens its range."""
    decision = judge(network(f"{rule}, effect: allow"), "CONNECT 10.0.0.5:443").decision

    assert (decision.effect, decision.rule) == (effect, why)


def test_default_allow_means_public_names(network):
    """Nothing that is near, and no address."""
    policy = network(section="default: allow")

    assert judge(policy, "CONNECT api.example.com:443").decision.effect == "allow"
    assert judge(policy, "GET http://api.example.com:8080/").decision.effect == "allow"
    for near in ("localhost", "db", "host.docker.internal", "8.8.8.8", "[2606:4700::1]"):
        assert judge(policy, f"CONNECT {near}:443").decision.layer == "floor"


def test_a_near_name_that_a_rule_names_is_reached(network):
    """Its addresses are another question: ``private`` says which."""
    policy = network(
        "hosts: [db, '*.corp.internal'], private: 10.0.0.0/8, effect: allow",
        "hosts: '*.example.com', effect: allow",
    )
    verdict = judge(policy, "CONNECT db:443")

    assert verdict.decision.effect == "allow"
    assert verdict.terms.private == ("10.0.0.0/8",)
    assert judge(policy, "CONNECT git.corp.internal:443").decision.effect == "allow"
    assert judge(policy, "CONNECT localhost:443").decision.rule == "special-name"


def test_opaque_bytes_need_a_rule_of_their_own(network):
    """And a rule that reads requests refuses what cannot be read."""
    tcp = "hosts: db.example.com, schemes: tcp, ports: 5432, effect: allow"
    rules = EgressRules(network(tcp, TUNNEL))

    assert rules.tunnel_scheme("db.example.com", 5432) == "tcp"
    assert rules.tunnel_scheme("api.example.com", 443) == "https"
    assert rules.tunnel_scheme("nowhere.example.com", 22) == "https"
    assert rules.tunnel_scheme("nowhere.example.com", 80) == "http"
    assert judge(network(tcp), "CONNECT db.example.com:5432").decision.effect == "allow"
    assert judge(network(tcp), "CONNECT db.example.com:5433").decision.effect == "deny"
    both = network(tcp, "hosts: db.example.com, methods: POST, effect: deny")
    assert judge(both, "CONNECT db.example.com:5432").decision.rule == "r2"


def test_by_default_a_connection_to_port_80_is_read_as_http(network):
    """So that programs which ignore the proxy reach an allowed host by plain http too."""
    verdict = judge(network(section="default: allow"), "CONNECT a.example.com:80")

    assert (verdict.decision.effect, verdict.terms.inspect) == ("allow", True)
    assert judge(network(TUNNEL), "CONNECT api.example.com:80").decision.effect == "deny"


def test_a_tunnel_for_plain_http_is_read(network):
    """There is nothing to decrypt."""
    policy = network("hosts: a.example.com, schemes: http, effect: allow")
    verdict = judge(policy, "CONNECT a.example.com:80")

    assert EgressRules(policy).tunnel_scheme("a.example.com", 80) == "http"
    assert (verdict.decision.effect, verdict.terms.inspect) == ("allow", True)


def test_a_credential_goes_with_what_its_rule_names_in_every_reading(network):
    """And by https alone."""
    inject = "inject: {secret: s, header: Authorization, format: 'Bearer {secret}', variables: T}"
    policy = network(f"{API}, {inject}", "hosts: api.example.com, effect: allow")
    (terms,) = judge(policy, "GET https://api.example.com/v1/x").terms.injections

    assert (terms.rule, terms.secret, terms.form) == ("session/r1", "s", "header")
    assert (terms.name, terms.format, terms.variables) == (
        "Authorization",
        "Bearer {secret}",
        ("T",),
    )
    for other in ("GET https://api.example.com/x", "GET https://api.example.com/v1/..%2fx"):
        verdict = judge(policy, other)
        assert (verdict.decision.effect, verdict.terms.injections) == ("allow", ())
    assert EgressRules(policy).injections == (terms,)


def test_a_refusal_comes_without_terms(network):
    """Nothing of what it would have had is told."""
    policy = network(f"{TUNNEL}, max_upload: 1KiB", f"{TUNNEL.replace('allow', 'deny')}")

    assert judge(policy, "CONNECT api.example.com:443").terms == replace(
        judge(network(), "CONNECT x.example.com:443").terms
    )


class Mirror:
    """What pip fetches from: one server, below one path."""

    def ecosystem(self, asked, wanted):
        below = asked.method is None or asked.path.startswith("/simple/")
        host = asked.host.removesuffix(".example")
        here = (host, asked.port) in {("pip", 443), ("pip", 0)} and asked.scheme == "https"
        return "pip" if here and below and "pip" in wanted else None


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("GET https://pip/simple/x/", "allow"),
        ("HEAD https://pip/simple/", "allow"),
        ("CONNECT pip:443", "allow"),
        ("LOOKUP pip", "allow"),
        ("POST https://pip/simple/", "deny"),
        ("GET https://pip/other", "deny"),
        ("CONNECT pip:8443", "deny"),
        ("GET https://npm/x", "deny"),
    ],
)
def test_a_package_client_reads_from_its_own_hosts(load, text, effect):
    """GET and HEAD only, and by whatever name its settings have for them."""
    policy = load(p="network: {default: deny, packages: [pip], packages_private: [10.0.0.0/8]}")
    verdict = EgressRules(policy, Mirror()).judge(request(text))

    assert verdict.decision.effect == effect
    at_its_server = text.startswith("POST") or effect == "allow"
    assert (verdict.decision.rule == "packages:pip") == at_its_server
    assert verdict.terms.inspect == (text == "CONNECT pip:443")
    assert verdict.terms.private == (
        ("10.0.0.0/8",) if effect == "allow" and "LOOKUP" not in text else ()
    )


def test_a_refusal_at_a_package_host_says_what_may_be_fetched_there(load):
    """Where no rule speaks of it; a layer that shuts the host keeps its own word."""
    rules = EgressRules(load(p="network: {default: deny, packages: [pip]}"), Mirror())
    shut = EgressRules(
        load(p="network: {default: deny, packages: [pip]}", user="network: {default: deny}"),
        Mirror(),
    )

    assert (
        "GET and HEAD alone"
        in rules.judge(request("POST https://pip.example/simple/")).decision.reason
    )
    assert (
        "named no such file"
        in rules.judge(request("GET https://pip.example/other")).decision.reason
    )
    assert (
        "no rule matches" in shut.judge(request("GET https://pip.example/simple/")).decision.reason
    )
    assert "no rule matches" in rules.judge(request("POST https://npm.example/x")).decision.reason


@pytest.mark.parametrize(
    "other",
    ["packages: []", "packages: [npm], default: delegate", "default: deny"],
)
def test_a_layer_without_the_client_keeps_its_hosts_shut(load, other):
    """A list of another layer can only take away."""
    policy = load(p="network: {default: deny, packages: [pip]}", user=f"network: {{{other}}}")
    verdict = EgressRules(policy, Mirror()).judge(request("GET https://pip/simple/"))

    assert verdict.decision.effect == "deny"


class NearMirror:
    """What pip fetches from has no name."""

    def ecosystem(self, asked, wanted):
        return "pip" if asked.host == "10.0.0.5" and "pip" in wanted else None


@pytest.mark.parametrize(
    ("private", "rule"),
    [("", "private-address"), (", packages_private: [10.0.0.0/8]", "packages:pip")],
)
def test_a_mirror_without_a_name_needs_its_range(load, private, rule):
    """Its client's settings name it, and the policy says that such a place may be reached."""
    policy = load(p=f"network: {{default: deny, packages: [pip]{private}}}")
    verdict = EgressRules(policy, NearMirror()).judge(request("GET https://10.0.0.5/simple/"))

    assert verdict.decision.rule == rule


def test_a_tunnel_to_a_package_host_is_for_what_its_client_speaks(load):
    """As for any rule."""
    rules = EgressRules(load(p="network: {packages: [pip]}"), Mirror())

    assert rules.tunnel_scheme("pip", 443) == "https"
    assert rules.may_let_out


def test_across_layers_the_strictest_vote_wins(network):
    """And a layer that says nothing has no vote."""
    ask = "network: {rules: [{id: mine, hosts: api.example.com, effect: ask}]}"
    deny = "network: {default: deny}"

    assert judge(network(TUNNEL, user=ask), "CONNECT api.example.com:443").decision.rule == "mine"
    assert judge(network(TUNNEL, user=deny), "CONNECT api.example.com:443").decision.layer == "user"
    silent = network(TUNNEL, user="limits: {steps: 1}")
    assert judge(silent, "CONNECT api.example.com:443").decision.effect == "allow"


def test_nobody_voting_means_no(load):
    """Fail closed."""
    decision = judge(load(p="limits: {steps: 1}"), "CONNECT api.example.com:443").decision

    assert (decision.effect, decision.rule, decision.layer) == ("deny", "unmatched", "floor")


def test_terms_are_the_strictest_of_all_layers(network):
    """Least bytes, ranges that each opens, every budget."""
    rule = "hosts: db.corp.internal, effect: allow"
    policy = network(
        f"{rule}, private: [10.0.0.0/8], max_upload: 1KiB, session_upload: 4KiB",
        user=f"network: {{max_upload: 9KiB, rules: [{{id: m, {rule}, private: [10.1.0.0/16, "
        "192.168.0.0/16], max_upload: 2KiB, max_download: 3KiB}]}",
    )
    terms = judge(policy, "CONNECT db.corp.internal:443").terms

    assert terms.private == ("10.1.0.0/16",)
    assert (terms.max_upload, terms.max_download) == (1024, 3072)
    assert terms.budgets == (Budget("session/r1", 4096, None), Budget("user", 9216, None))


@pytest.mark.parametrize("default", ["allow", "ask"])
def test_a_default_opens_nothing_that_is_near(network, default):
    """Another layer's rule does not loosen it; one without a default has no say."""
    rule = "hosts: [10.0.0.5, db], private: 10.0.0.0/8, effect: allow"
    policy = network(rule, user=f"network: {{default: {default}}}")
    alone = network(rule, user="network: {rules: []}")

    assert judge(policy, "CONNECT 10.0.0.5:443").decision.rule == "unnamed-address"
    assert judge(policy, "CONNECT db:443").decision.rule == "special-name"
    assert judge(policy, "LOOKUP db").decision.rule == "special-name"
    assert judge(alone, "CONNECT db:443").decision.effect == "allow"


def test_an_address_needs_a_range_of_every_layer_that_votes(network):
    """A rule that names it without one means it as a public address."""
    rule = "hosts: 10.0.0.5, private: 10.0.0.0/8, effect: allow"
    other = "network: {rules: [{id: m, hosts: 10.0.0.5, private: 10.0.0.0/24, effect: ask}]}"
    policy = network(rule, user=other.replace("10.0.0.0/24", "10.0.0.5/32"))

    assert judge(policy, "CONNECT 10.0.0.5:443").terms.private == ("10.0.0.5/32",)


def test_whether_anything_can_be_let_out(network, load):
    """Else the box needs no way out at all."""
    assert not EgressRules(network()).may_let_out
    assert not EgressRules(load(p="limits: {steps: 1}")).may_let_out
    assert EgressRules(network(TUNNEL)).may_let_out
    assert EgressRules(network(section="default: ask")).may_let_out
    assert not EgressRules(network(TUNNEL, user="network: {default: deny}")).may_let_out


@pytest.mark.parametrize(
    "broken",
    [
        EgressRequest("connect", "https", "API.example.com", 443),
        EgressRequest("connect", "https", "api.example.com.", 443),
        EgressRequest("connect", "https", "api.example.com", 0),
        EgressRequest("connect", "https", "api.example.com", 70000),
        EgressRequest("dns", "https", "api.example.com", 53),
        EgressRequest("connect", "https", "api.example.com", 443, target="/x"),
        EgressRequest("http", "tcp", "api.example.com", 443, "GET", "/"),
        EgressRequest("http", "https", "api.example.com", 443, "", "/"),
        EgressRequest("http", "https", "api.example.com", 443, "get", "/"),
        EgressRequest("http", "https", "api.example.com", 443, "GET", "*"),
        EgressRequest("http", "https", None, 443, "GET", "/"),  # type: ignore[arg-type]
        EgressRequest("http", "https", "api.example.com", 443, 7, "/"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_request_is_refused_and_nothing_raises(network, broken):
    """A mistake of the caller lets nothing out either."""
    verdict = EgressRules(network(section="default: allow")).judge(broken)

    assert (verdict.decision.effect, verdict.decision.layer) == ("deny", "floor")


def test_the_begin_of_a_push_is_refused_where_the_push_would_be(network):
    """What is asked about is asked when it is sent, not twice."""
    rules = ("hosts: git.example.com, methods: [GET, HEAD], effect: allow",)
    fetch = "hosts: git.example.com, methods: POST, paths: '/**/git-upload-pack', effect: allow"
    push = "hosts: git.example.com, methods: POST, paths: '/**/git-receive-pack', effect: ask"
    begin = "GET https://git.example.com/o/r/info/refs?service="
    reading, asking = network(*rules, fetch), network(*rules, fetch, push)

    assert judge(reading, f"{begin}git-upload-pack").decision.effect == "allow"
    assert judge(reading, f"{begin}git-receive-pack").decision.effect == "deny"
    assert judge(asking, f"{begin}git-receive-pack").decision.effect == "allow"
    assert (
        judge(asking, "POST https://git.example.com/o/r/git-receive-pack").decision.effect == "ask"
    )
