"""The egress corpus through the real proxy, over sockets, with real TLS on both sides of it."""

from dataclasses import dataclass, field

import anyio
import pytest

from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.inject.placeholders import Placeholders
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import ScriptedGatekeeper, ScriptedResolver
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.sockets import AddressDialer
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.hello import read_hello
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.policy.hosts import canonical_host
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.way_out import Incoming
from tests.support.egress_cases import SECRET, _scheme, load_egress_cases, policy_text, shown
from tests.support.egress_client import REACHED, Program
from tests.support.egress_scene import QUICK, head_of
from tests.support.secrets import FixedSecrets
from tests.support.tls_server import listening

PUBLIC = "203.0.113.10"
KEY = "live-key-0123456789"
SERVERS, BOX = Authority("servers"), Authority("box")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(REACHED), REACHED)
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n" + REACHED
)

CASES = load_egress_cases()
SENT = [
    case
    for case in CASES
    if case["request"]["how"] in {"connect", "http"}
    or (case["request"]["how"] == "raw" and case["request"].get("method"))
]
LOOKED_UP = [case for case in CASES if case["request"]["how"] == "dns"]
PAST_THE_PROXY = [case for case in CASES if case not in SENT and case not in LOOKED_UP]


@dataclass
class World:
    """Everything outside of the box: it serves whoever gets there, and remembers what came."""

    names: ScriptedResolver
    port: int = 0
    dialled: list[tuple[str, int]] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)

    async def dial(self, address, port):
        """Any address leads somewhere, so that a wrong one would be noticed."""
        self.dialled.append((address, port))
        return await AddressDialer().dial("127.0.0.1", self.port)

    async def resolve(self, host):
        return await self.names.resolve(host)

    async def serve(self, stream):
        """Speak TLS with who speaks TLS, HTTP with who speaks HTTP, and SSH with anybody else."""
        try:
            hello, stream = await read_hello(stream)
        except ValueError as error:
            if "text" not in str(error):
                await stream.send(REACHED + b"SSH", last=True)
                self.received.append(b"SSH")
                return
            self.received.append(b"plain")
            await stream.send(ANSWER, last=True)
            return
        stream = await SERVERS.terminate(stream, canonical_host(hello.server_name))
        head = await head_of(stream)
        self.received.append(head)
        await stream.send(SWITCHED if b"Upgrade:" in head else ANSWER, last=True)


def rules_of(case, folder):
    file = folder / "case.yaml"
    file.write_text(policy_text(case["policy"]))
    system = OwnedFolder(folder / "none")
    return EgressRules(load_policy([str(file)], search=folder, user_file=None, system=system))


class Gate(ScriptedGatekeeper):
    """Follows real rules."""

    def __init__(self, rules):
        super().__init__(rules.judge)
        self.tunnel_scheme = rules.tunnel_scheme


def world_of(case):
    said = [str(text) for text in case["request"].get("resolves") or [PUBLIC]]
    turns = [[text.split()[-1]] for text in said if "lookup" in text]
    host = str(case["request"]["host"]).rstrip(".").lower()
    if turns:
        return World(ScriptedResolver({host: turns[-1]}, turns={host: turns}))
    return World(
        ScriptedResolver({host: said, "drop.test": [PUBLIC], "drop.example.net": [PUBLIC]})
    )


def play(case, folder, ask):
    """Let a program ask, and return the world that it did or did not reach."""
    world, rules = world_of(case), rules_of(case, folder)
    gate = Gate(rules)
    tls = SessionTls(BOX, upstream_context(SERVERS.certificate))
    injector = Injector(Placeholders(FixedSecrets(**{SECRET: KEY})))

    async def run():
        proxy = Proxy(gate, world, world, tls=tls, injector=injector, limits=QUICK)

        async def outside(stream):
            await proxy.serve(stream, Incoming("proxy"))

        with anyio.fail_after(30):
            async with listening(world.serve) as world.port, listening(outside) as port:
                program = Program(port, BOX.certificate + SERVERS.certificate)
                return await anyio.to_thread.run_sync(ask, program)

    return anyio.run(run), world, gate


def ways(case):
    """How a case can be sent: in a tunnel, and where nothing forbids it, by the whole URL too."""
    request = case["request"]
    scheme = _scheme(case, int(request["port"]))
    yield "usual", lambda program: program.fetch(case, scheme=scheme)
    if request.get("method") and scheme == "https" and "sni" not in request:
        yield "whole URL", lambda program: program.plainly(case, scheme)


@pytest.mark.parametrize("case", SENT, ids=[case["id"] for case in SENT])
def test_what_is_sent_reaches_its_server_or_nobody(case, tmp_path):
    """What is refused is received nowhere, and the program is told so or cut off."""
    for way, ask in ways(case):
        got, world, gate = play(case, tmp_path, ask)

        seen = (way, shown(case), got, world.received, [traffic for _, traffic in gate.ended])
        if case["expect"] == "allow":
            assert REACHED in got, seen
            assert len(world.received) == 1, seen
            assert {address for address, _ in world.dialled} == {PUBLIC}, seen
        else:
            assert REACHED not in got, seen
            assert world.received == [], seen
            assert KEY.encode() not in got, seen
            assert b" 403 " in got or b" 400 " in got or b"broke off" in got or got == b"", seen
        assert len(world.names.asked) <= 1, seen


@pytest.mark.parametrize("case", LOOKED_UP, ids=[case["id"] for case in LOOKED_UP])
def test_a_name_is_looked_up_where_something_on_it_is_allowed(case, tmp_path):
    """Whatever the type of record: the box knows yes and no, and nothing leaves for either."""

    async def run():
        world = world_of(case)
        proxy = Proxy(Gate(rules_of(case, tmp_path)), world, world)
        return await proxy.knows(str(case["request"]["host"]), None), world

    known, world = anyio.run(run)

    assert known is (case["expect"] == "allow")
    assert world.names.asked == []


def test_the_rest_goes_past_the_proxy_and_is_the_boxs_to_stop():
    """There is no network in the box: ``tests/attack`` tries those from inside."""
    assert {case["request"]["how"] for case in PAST_THE_PROXY} == {"raw"}
    assert {case["expect"] for case in PAST_THE_PROXY} == {"deny"}
    assert len(SENT) * 10 > len(CASES) * 8


def test_a_case_that_is_refused_would_be_noticed_where_it_was_not(tmp_path):
    """The same request under a policy that lets it reaches the server: the check can fail."""
    refused = next(case for case in SENT if case["id"] == "egress-method-02")
    allowed = {**refused, "policy": {"allow": ["https api.example.com:443 POST /v1/**"]}}
    got, world, _ = play(allowed, tmp_path, lambda program: program.fetch(allowed, scheme="https"))

    assert REACHED in got
    assert len(world.received) == 1
