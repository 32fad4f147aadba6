"""The network section of a draft."""

import pytest
import yaml

from orchestrator.policy.replay import RecordedCall, replay
from orchestrator.policy.suggest import suggest
from orchestrator.policy.suggest_network import MOST_PATHS, NetworkDraft
from tests.support.egress import request


def call(text, *, effect="allow", rule="r", seq=1, injected=()):
    """Return a recorded request."""
    return RecordedCall(
        chain="c",
        seq=seq,
        tool="egress",
        request=request(text),
        effect=effect,
        rule=rule,
        answer=True if effect == "ask" else None,
        injected=injected,
    )


def section(*calls):
    """Return the drafted section as data, None where there is none."""
    draft = NetworkDraft()
    for one in calls:
        draft.add(one)
    return (yaml.safe_load("\n".join(draft.lines())) or {}).get("network")


def test_requests_of_one_kind_share_a_rule():
    """Methods apart, since each means something else; a question stays one."""
    found = section(
        call("GET https://a.example.com/x/1"),
        call("GET https://a.example.com/x/2"),
        call("GET https://a.example.com/y"),
        call("POST https://a.example.com/x", effect="ask"),
        call("CONNECT b.example.com:443"),
        call("CONNECT c.example.com:443", effect="deny"),
        call("LOOKUP c.example.com"),
    )

    assert [(rule["id"], rule["effect"], rule.get("paths")) for rule in found["rules"]] == [
        ("a-example-com-get", "allow", ["/x/*", "/y"]),
        ("a-example-com-post", "ask", ["/x"]),
        ("b-example-com-443", "allow", None),
    ]
    assert found["default"] == "deny"


def test_rules_for_one_place_have_ids_of_their_own():
    """An id twice would be a mistake in the draft."""
    found = section(
        call("GET https://a.example.com/x"), call("GET https://a.example.com/x", effect="ask")
    )

    assert [rule["id"] for rule in found["rules"]] == ["a-example-com-get", "a-example-com-get-2"]


def test_package_clients_are_named_and_not_their_hosts():
    """So that the draft works beside another mirror."""
    found = section(call("GET https://pip.example.com/x", rule="packages:pip"))

    assert found == {"default": "deny", "packages": ["pip"]}
    assert section() is None


@pytest.mark.parametrize(
    ("count", "paths"),
    [(MOST_PATHS, MOST_PATHS), (MOST_PATHS + 1, 1)],
)
def test_many_paths_are_named_by_their_folder(count, paths):
    """A rule that nobody reads protects nobody."""
    calls = [call(f"GET https://a.example.com/files/n{at}.txt") for at in range(count)]

    (rule,) = section(*calls)["rules"]
    assert len(rule["paths"]) == paths


def test_paths_with_nothing_in_common_become_all():
    """With the root's own path kept where a folder is named."""
    many = [call(f"GET https://a.example.com/f{at}/x") for at in range(MOST_PATHS + 1)]
    few = [call(f"GET https://a.example.com/f/n{at}") for at in range(MOST_PATHS)]

    assert section(*many)["rules"][0]["paths"] == ["/**"]
    (rule,) = section(*few, call("GET https://a.example.com/"))["rules"]
    assert rule["paths"] == ["/f/**", "/"]


def test_a_lone_path_among_many_stays_as_it_is():
    """Only folders that many paths share are named whole, as deep as they go."""
    many = [call(f"GET https://a.example.com/f/deep/n{at}.txt") for at in range(MOST_PATHS)]
    lone = [call("GET https://a.example.com/q/echo"), call("GET https://a.example.com/")]
    pair = [call(f"GET https://a.example.com/p/{name}") for name in ("x", "y")]

    (rule,) = section(*many, *lone, *pair)["rules"]
    assert rule["paths"] == ["/f/deep/**", "/q/echo", "/", "/p/x", "/p/y"]
    (rule,) = section(*many, call("GET https://a.example.com/f/deep"))["rules"]
    assert rule["paths"] == ["/f/deep/**"]


def test_a_secret_that_was_put_in_is_kept_as_a_comment():
    """A record says which, and not how: the owner is told where to look."""
    draft = NetworkDraft()
    for injected in ((), ("vault:api",), ("vault:api",)):
        draft.add(call("GET https://a.example.com/x", rule="api", injected=injected))
    draft.add(call("GET https://b.example.com/x"))
    lines = list(draft.lines())

    at = lines.index('      # inject: {secret: "vault:api"}')
    assert lines[at - 1] == '      paths: ["/x"]'
    assert lines[at + 1].startswith("      # dropped: ")
    assert '`inject` over from the rule "api"' in lines[at + 1]
    assert sum("inject" in line for line in lines) == 2
    assert [sorted(rule) for rule in yaml.safe_load("\n".join(lines))["network"]["rules"]] == [
        ["effect", "hosts", "id", "methods", "paths"]
    ] * 2


def test_a_whole_draft_decides_as_was_decided(load):
    """Requests beside calls, packages as the session knew them."""
    calls = [
        call("GET https://a.example.com/v1/%7Ex/42?q"),
        call("GET wss://a.example.com/ws"),
        call("CONNECT db.example.com:443"),
        call("POST https://a.example.com/v1", effect="ask"),
        call("GET https://pip.example.com/simple/", rule="packages:pip"),
        call("GET https://b.example.com/", effect="deny", rule="default:network"),
        call("GET https://git.example.com/o/r/info/refs?service=git-upload-pack"),
        call("POST https://git.example.com/o/r/git-upload-pack"),
    ]
    base = "commands: {default: allow}\n"

    def policy(text):
        body = text.split("\n", 4)[4].replace("extends: [default]\n", "")
        return load(p=body)

    found = suggest(calls, policy, name="mine")
    assert found.left == ()
    assert "packages: [pip]" in found.text
    shut = load(p=f"{base}network: {{default: deny, packages: []}}")
    assert len(list(replay(shut, calls))) == 7
