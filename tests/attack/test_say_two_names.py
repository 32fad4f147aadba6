"""Connections that say one name to the proxy and another one to the server behind it."""

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from tests.support.certificates import ServerAuthority
from tests.support.outing import allow
from tests.support.trapped import sent, trapped

pytestmark = pytest.mark.docker
GOOD, EVIL = "api.acme.example", "evil.example"


def word(name, connect, sni, *hosts, target="/"):
    """Return a request in TLS in a tunnel, with a name at each of its places."""
    lines = [f"GET {target} HTTP/1.1", *(f"Host: {host}" for host in hosts), "Connection: close"]
    send = "\r\n".join([*lines, "", ""])
    return {"name": name, "connect": f"{connect}:443", "sni": sni, "send": send}


WORDS = [
    word("good", GOOD, GOOD, GOOD),
    word("good-port", GOOD, GOOD, f"{GOOD}:443"),
    word("other-sni", GOOD, EVIL, GOOD),
    word("other-sni-and-host", GOOD, EVIL, EVIL),
    word("other-host", GOOD, GOOD, EVIL),
    word("other-host-port", GOOD, GOOD, f"{GOOD}:8443"),
    word("two-hosts", GOOD, GOOD, GOOD, EVIL),
    word("two-hosts-turned", GOOD, GOOD, EVIL, GOOD),
    word("host-list", GOOD, GOOD, f"{GOOD}, {EVIL}"),
    word("host-user", GOOD, GOOD, f"{GOOD}@{EVIL}"),
    word("host-nul", GOOD, GOOD, f"{EVIL}\0.{GOOD}"),
    word("no-host", GOOD, GOOD),
    word("whole-url", GOOD, GOOD, GOOD, target=f"https://{EVIL}/"),
    word("whole-url-and-host", GOOD, GOOD, EVIL, target=f"https://{EVIL}/"),
    word("url-of-good", GOOD, GOOD, EVIL, target=f"https://{GOOD}/"),
    word("other-connect", EVIL, GOOD, GOOD),
    word("no-sni", GOOD, None, GOOD),
]
URL_HOST = {"name": "url-host", "send": f"GET http://{GOOD}/ HTTP/1.1\r\nHost: {EVIL}\r\n\r\n"}


@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
def test_no_second_name_reaches_a_shared_server(outing, tmp_path, read):
    """One server has certificates for both; it never hears the other name, in TLS or in HTTP."""
    authority = ServerAuthority()
    extra = tmp_path / "company.pem"
    extra.write_text(authority.pem)
    tls, said = authority.server_context(tmp_path, GOOD, EVIL), []
    tls.sni_callback = lambda _tls, name, _context: said.append(name)
    settings = Settings(egress=EgressSettings(extra_ca=extra))
    rule = allow(GOOD, schemes=["http", "https"], **({"methods": ["GET"]} if read else {}))
    # What is in a tunnel that nobody reads is between the program and the server.
    tried = WORDS if read else [one for one in WORDS if one["sni"] != GOOD or one["name"] == "good"]
    tried = [*tried, word("all-evil", EVIL, EVIL, EVIL), URL_HOST]

    async def run():
        async with trapped(GOOD, EVIL, tls=tls) as outside:
            policy = outing.policy(default="deny", rules=[rule])
            return await sent(outing, policy, tried, outside, settings=settings), outside

    answers, outside = anyio.run(run)

    assert answers.pop("good") == ["200"]
    assert answers.pop("good-port", ["200"]) == ["200"]
    assert not [name for name, codes in answers.items() if "200" in codes], answers
    assert set(said) == {GOOD}
    assert set(outside.net.resolver.asked) == {GOOD}
    assert len(outside.far.heads) == (2 if read else 1)
    assert not [head for head in outside.far.heads if EVIL.encode() in head]
    assert outside.caught == []


def test_other_name_is_heard_where_a_rule_names_it(outing, tmp_path):
    """The same words for the other name arrive under a rule for it: the server does answer."""
    authority = ServerAuthority()
    extra = tmp_path / "company.pem"
    extra.write_text(authority.pem)
    settings = Settings(egress=EgressSettings(extra_ca=extra))

    async def run():
        async with trapped(EVIL, tls=authority.server_context(tmp_path, EVIL)) as outside:
            policy = outing.policy(default="deny", rules=[allow(EVIL, methods=["GET"])])
            asked = [word("all-evil", EVIL, EVIL, EVIL)]
            return await sent(outing, policy, asked, outside, settings=settings), outside

    answers, outside = anyio.run(run)

    assert answers == {"all-evil": ["200"]}
    assert f"Host: {EVIL}".encode() in outside.far.heads[0]
