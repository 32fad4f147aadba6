"""Words to the proxy that name one host to a rule and another one to whoever connects."""

import anyio
import pytest

from tests.support.outing import allow
from tests.support.trapped import sent, trapped

pytestmark = pytest.mark.docker
EVIL = "evil.example"
NEAR = [
    "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1",
    "127.0.0.1", "127.0.0.1.", "127.000.000.001", "0", "0.0.0.0", "169.254.169.254", "2852039166",
    "10.0.0.5", "172.16.0.1", "192.168.1.1", "100.64.0.1", "224.0.0.1", "255.255.255.255",
    "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]",
    "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2001:0:7f00:1::]", "[fe80::1%25eth0]", "[fd00:ec2::254]", "localhost", "LOCALHOST.",
    "a.localhost", "host.docker.internal", "gateway.docker.internal", "metadata.google.internal",
    "metadata", "printer.local", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "\u2460\u2461\u2466.0.0.1",
]  # fmt: skip
"""All of them mean this host, or somebody near it, to some reader."""

SPLIT = [
    f"{EVIL}\0.acme.example", f"{EVIL}%00.acme.example", f"{EVIL}\r\n.acme.example",
    f"{EVIL}\n.acme.example", f"{EVIL}\r.acme.example", f"{EVIL}%0d%0a.acme.example",
    f"{EVIL}#.acme.example", f"{EVIL}/.acme.example", f"{EVIL}?.acme.example",
    f"{EVIL}\\.acme.example", f"{EVIL} .acme.example", f"{EVIL}\t.acme.example",
    f"{EVIL};.acme.example", f"{EVIL},.acme.example", f"{EVIL}:80#.acme.example",
    f"api.acme.example@{EVIL}", f"api.acme.example:80@{EVIL}", f"{EVIL}@api.acme.example",
    f"{EVIL}\u3002acme.example", f"{EVIL}\uff0f.acme.example", f"{EVIL}\u2100.acme.example",
    "\uff41pi.acme.example", "api\u00ad.acme.example", "\u0430pi.acme.example",
    "api..acme.example", ".acme.example", "acme.example", "notacme.example",
    "api.acme.example.evil.example", "api.acme.example%2eevil.example", "*.acme.example",
]  # fmt: skip
"""What ends in the allowed name to one reader, and is or becomes another host to the next."""


def words(hosts):
    """Return each host in a URL, and as the end of a tunnel, in the bytes that a program would send."""
    found = []
    for at, host in enumerate(hosts):
        raw = host.encode("utf-8").decode("latin-1")
        url = f"GET http://{raw}/ HTTP/1.1\r\nHost: {raw}\r\n\r\n"
        tunnel = f"CONNECT {raw}:443 HTTP/1.1\r\nHost: {raw}:443\r\n\r\n"
        found += [{"name": f"url-{at}", "send": url}, {"name": f"tunnel-{at}", "send": tunnel}]
    return found


def attacked(outing, hosts, rule):
    """Send the words; return the answers to them, to a good word, and who was heard."""
    good = words(["api.acme.example"])[0] | {"name": "good"}
    policy = outing.policy(default="deny", rules=[rule])

    async def run():
        async with trapped("api.acme.example") as outside:
            answers = await sent(outing, policy, [good, *words(hosts)], outside)
            return answers, outside

    answers, outside = anyio.run(run)
    assert answers.pop("good") == ["200"]
    assert outside.net.resolver.asked == ["api.acme.example"]
    assert [head.split(b"\r\n")[0] for head in outside.far.heads] == [b"GET / HTTP/1.1"]
    assert outside.caught == []
    return answers


def test_no_spelling_of_a_near_address_is_dialled(outing):
    """Under a rule for every public name: decimal, hex, octal, short, mapped, metadata, fullwidth."""
    rule = allow("*", schemes=["http", "https"])
    answers = attacked(outing, NEAR, rule)

    assert {codes[0] for codes in answers.values()} <= {"400", "403"}


def test_no_byte_in_a_name_makes_it_another_host(outing):
    """Under a rule for one domain: NUL, line ends, user names, other scripts, suffixes."""
    rule = allow("*.acme.example", schemes=["http", "https"])
    answers = attacked(outing, SPLIT, rule)

    assert {codes[0] for codes in answers.values()} <= {"400", "403"}


def test_name_that_no_rule_knows_is_heard_where_all_are_let_out(outing):
    """The trap hears: what is refused above is refused by rule, not by chance."""

    async def run():
        async with trapped("api.acme.example") as outside:
            policy = outing.policy(default="deny", rules=[allow("*", schemes=["http"])])
            return await sent(outing, policy, words([EVIL])[:1], outside), outside

    answers, outside = anyio.run(run)

    assert answers == {"url-0": ["200"]}
    assert len(outside.caught) == 1
    assert outside.net.resolver.asked == [EVIL]
