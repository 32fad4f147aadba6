"""What ``policy explain`` says of a request is what the proxy does with it."""

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.policy.addresses import check_address
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.url_paths import PathRefused, readings
from orchestrator.schema.egress import EgressVerdict
from tests.property.egress import (
    NEAR,
    NearRule,
    lets,
    near_layers,
    near_targets,
    policy_of,
    section_of,
)
from tests.support.egress_scene import head_of, rest_of, scene

HERE = "127.0.0.1"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
BOTH = [
    NearRule("allow", "/open/**", "", ", private: 127.0.0.0/8"),
    NearRule("allow", "/api/**", "", ", private: 127.0.0.1/32"),
]


def rules_of(layers):
    """Return the rules of layers, ready to ask."""
    return EgressRules(
        policy_of(
            [
                (name, section_of(default, [rule.text() for rule in rules]))
                for name, default, rules in layers
            ]
        )
    )


def explained(rules, text) -> EgressVerdict | None:
    """Return the verdict that is explained; None for what is read as no request."""
    try:
        return rules.judge(parse_egress(text))
    except ValueError:
        return None


def reaches(rules, method, target):
    """Say whether what a program sends so gets to the server behind the name."""

    async def serve(found):
        far = await found.dialer.accept()
        await head_of(far)
        await far.send(OK, last=True)

    async def run():
        async with scene(names={NEAR: [HERE]}, places={(HERE, 80): None}) as found:
            found.gate.judge = rules.judge
            found.tasks.start_soon(serve, found)
            box = found.dial()
            line = f"{method} http://{NEAR}{target} HTTP/1.1\r\nHost: {NEAR}\r\n\r\n"
            await box.send(line.encode("utf-8"))
            got = await rest_of(box)
            found.tasks.cancel_scope.cancel()
        seen.append((got, bool(found.dialer.dialled)))

    seen = []
    anyio.run(run)
    got, dialled = seen[0]
    assert got.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 403 ", b"HTTP/1.1 400 ")), got
    assert dialled == got.startswith(b"HTTP/1.1 200 "), got
    return dialled


@settings(max_examples=80, deadline=None)
@given(near_layers(), st.sampled_from(("GET", "POST", "get", "A--B")), near_targets())
@example([("session", "deny", BOTH)], "GET", "/open/../api/echo")
@example([("session", "deny", BOTH)], "GET", "/api/x y/echo")
@example([("session", "deny", BOTH[:1])], "GET", "/open/../api/echo")
def test_what_is_explained_is_what_happens(layers, method, target):
    """With the range that the address must be in: a yes reaches the server, and nothing else does."""
    rules = rules_of(layers)
    verdict = explained(rules, f"{method} http://{NEAR}{target}")
    said = (
        verdict is not None
        and verdict.decision.effect == "allow"
        and check_address(HERE, verdict.terms.private) is None
    )

    assert reaches(rules, method, target) == said, verdict


@settings(max_examples=400, deadline=None)
@given(near_layers(), st.sampled_from(("GET", "POST")), near_targets())
@example([("session", "deny", BOTH)], "GET", "/open/../api/echo")
def test_a_request_goes_where_each_of_its_readings_may(layers, method, target):
    """Whichever rules those are by, and to no address that one of them does not open."""
    path = target.partition("?")[0]
    try:
        found = readings(path)
    except PathRefused:
        found = ()
    sound = bool(found) and target.isascii() and not {*target} & {*" \x01"}
    verdict = rules_of(layers).judge(parse_egress(f"{method} http://{NEAR}{target}"))
    goes = verdict.decision.effect == "allow" and check_address(HERE, verdict.terms.private) is None

    assert goes == (sound and all(lets(layers, method, reading) for reading in found)), verdict
