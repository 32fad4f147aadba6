"""Allowed names whose owner leads to where nobody may go: by the resolver, or by an answer."""

import anyio
import pytest

from tests.support.outing import allow
from tests.support.trapped import TRAP, trapped
from tests.support.upstream import PUBLIC

pytestmark = pytest.mark.docker
HOST = "turn.acme.example"
NEAR = ["127.0.0.1", "::1", "10.0.0.5", "169.254.169.254", "fd00:ec2::254", "::ffff:127.0.0.1",
        "100.100.100.200", "0.0.0.0", "64:ff9b::a9fe:a9fe", "fe80::1"]  # fmt: skip

ASK = (
    "for i in $(seq {count}); do curl -sS -o /dev/null -w '%{{http_code}}\\n' "
    f"http://{HOST}/$i; done; echo asked"
)
BY_NAME = r"""
import socket
found = {}
for at in range(12):
    for entry in socket.getaddrinfo("turn.acme.example", 80, type=socket.SOCK_STREAM):
        found.setdefault(entry[4][0], at)
print(*found)
for address in found:
    with socket.create_connection((address, 80), 10) as link:
        link.sendall(b"GET /by-address HTTP/1.1\r\nHost: turn.acme.example\r\n\r\n")
        print(link.recv(100).split(b"\r\n")[0].decode())
"""


def asked(outing, turns, command, **more):
    async def run():
        async with trapped(turns={HOST: turns}) as outside:
            outside.net.dialer._places[PUBLIC, 80] = outside.far.ports[PUBLIC, 80]
            rule = allow(HOST, schemes=["http"], **more)
            policy = outing.policy(default="deny", rules=[rule])
            outputs = await outing.run(policy, command, net=outside.net)
            return outputs[0].split(), outside

    return anyio.run(run)


def test_name_that_turns_to_a_near_address_is_not_followed(outing):
    """Public first, then near, then both, by turns: every address is checked at every request."""
    turns = [[PUBLIC], *([near] for near in NEAR), *([PUBLIC, near] for near in NEAR)]
    turns += [[near, PUBLIC] for near in NEAR] + [[PUBLIC]]
    answers, outside = asked(outing, turns, ASK.format(count=len(turns)))

    assert answers == ["200", *["403"] * (len(turns) - 2), "200", "asked"]
    assert outside.caught == []
    assert set(outside.net.dialer.dialled) == {(PUBLIC, 80)}
    assert len(outside.net.resolver.asked) == len(turns)


def test_box_is_told_no_address_of_the_outside(outing):
    """Its name service gives one of the box's own, always the same; who connects is judged by name."""
    (outing.project / "by_name.py").write_text(BY_NAME)
    answers, outside = asked(outing, [["127.0.0.1"], [PUBLIC]], "python3 by_name.py")

    assert answers[0].startswith("127.64.")
    assert answers[1:4] == ["HTTP/1.1", "403", "Refused"]
    assert outside.caught == []
    assert outside.net.resolver.asked == [HOST]


def test_near_address_hears_where_a_rule_says_so(outing):
    """The same road leads to the trap under ``private``."""
    turns = [["10.0.0.5"], ["169.254.169.254"]]
    answers, outside = asked(outing, turns, ASK.format(count=2), private=["10.0.0.0/24"])

    assert answers == ["200", "403", "asked"]
    assert len(outside.caught) == 1
    assert outside.net.dialer.dialled == [("10.0.0.5", 80)]


LEADS = {
    "/evil": "http://evil.example/taken?loot=1",
    "/scheme": "https://turn.acme.example/page",
    "/near": "http://127.0.0.1/",
    "/metadata": "http://169.254.169.254/latest/meta-data/",
    "/path": "/admin/keys",
    "/dots": "/page/%2e%2e/admin/keys",
    "/slashes": "//evil.example/taken",
    "/user": "http://turn.acme.example@evil.example/",
    "/port": "http://turn.acme.example:8080/page",
    "/socks": "ftp://evil.example/",
    "/good": "/page",
}


async def lead(head, reader, writer):  # noqa: ARG001 - the form of Answer
    """Answer with a redirect where the path has one."""
    path = head.split(b" ")[1].decode()
    place = LEADS.get(path)
    status = f"302 Found\r\nLocation: {place}" if place else "200 OK"
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".encode())
    await writer.drain()


def test_redirects_lead_nowhere_that_is_not_let_out(outing):
    """The program follows and is judged anew; the proxy itself follows none."""
    follow = (
        f"for p in {' '.join(LEADS)}; do curl -sS -L --max-time 20 -o /dev/null "
        f'-w "$p %{{http_code}} %{{num_redirects}}\\n" http://{HOST}$p 2>/dev/null; done; echo all'
    )
    stay = f"for p in {' '.join(LEADS)}; do curl -sS -o /dev/null http://{HOST}$p; done; echo all"

    async def run():
        async with trapped(HOST, answer=lead) as outside:
            paths = [*LEADS, "/page"]
            rule = allow(HOST, schemes=["http"], methods=["GET"], paths=paths)
            policy = outing.policy(default="deny", rules=[rule])
            followed, _ = await outing.run(policy, follow, stay, net=outside.net)
            return followed, outside

    followed, outside = anyio.run(run)

    lines = [line.split() for line in followed.splitlines() if line.startswith("/")]
    assert {line[0] for line in lines} == set(LEADS)
    good = [line for line in lines if line[1] == "200"]
    assert good == [["/good", "200", "1"]]
    assert outside.caught == []
    assert set(outside.net.resolver.asked) == {HOST}
    heard = [head.split(b" ")[1].decode() for head in outside.far.heads]
    assert sorted(heard) == sorted([*LEADS, *LEADS, "/page"])


def test_redirect_to_an_allowed_name_is_heard_there(outing):
    """The trap hears who follows to it, where a rule lets that out."""

    async def run():
        async with trapped(HOST, answer=lead) as outside:
            rule = allow(HOST, "evil.example", schemes=["http"])
            policy = outing.policy(default="deny", rules=[rule])
            await outing.run(policy, f"curl -sS -L http://{HOST}/evil", net=outside.net)
            return outside

    outside = anyio.run(run)

    assert outside.caught[0].startswith(b"GET /taken?loot=1 HTTP/1.1\r\n")
    assert (TRAP, 80) in outside.net.dialer.dialled
