import json
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest

from orchestrator.audit.read import read_bodies
from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.containers import find_containers
from orchestrator.errors import EngineError
from orchestrator.harness.packages.prepared import Preparation, now_and_then
from orchestrator.harness.packages.relay import Relay, relay_spec
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import SessionId
from orchestrator.schema.way_out import WayOut
from tests.support.boxes import Stage
from tests.support.images import drop_image

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nZmlyc3Q=\nbWlkZGxl\nc2lnbmVkLWJ5LXVz\nZW5k\n-----END CERTIFICATE-----\n"


def policy(tmp_path, commands):
    file = tmp_path / "policy.yaml"
    steps = json.dumps({"prepare": {"commands": commands}})
    file.write_text(f"version: 1\nname: t\nextends: [default]\nsandbox: {steps}\n")
    return load_policy((str(file),), search=asset("policies"), user_file=tmp_path / "none.yaml")


class Server:
    """An Outside that answers every request with a line, and knows every name."""

    def __init__(self):
        self.asked, self.callers = [], set()

    async def serve(self, incoming, stream):
        self.callers.add(incoming.caller)
        head = await stream.receive()
        self.asked.append((incoming.door, incoming.host, head.partition(b"\r\n")[0].decode()))
        body = b"from outside\n"
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
        await stream.send(answer + body, last=True)
        await stream.close()

    async def knows(self, name, caller):
        self.callers.add(caller)
        return name.endswith(".example")


class World:
    """Preparations on a real engine, whose images go at the end."""

    def __init__(self, engine, image, tmp_path):
        self.engine, self.named, self.tmp_path = engine, image, tmp_path
        self.paths = Paths(tmp_path / "state", tmp_path / "config")
        self.server = Server()
        self.said = []
        self.made = set()

    @asynccontextmanager
    async def open_way(self, _session, box, _audit):
        way = WayOut(CERTIFICATE)
        async with box.let_out(way, self.server):
            yield way

    def prepare(self, *commands, networked=False):
        relay = Relay(self.named, self.open_way) if networked else None
        preparation = Preparation(
            self.engine,
            DockerLifecycle(self.engine),
            policy(self.tmp_path, commands),
            self.paths,
            self.said.append,
            relay,
        )

        async def run():
            return await preparation.image(self.named)

        try:
            made = anyio.run(run)
        finally:
            assert not [
                found for found in find_containers(self.engine) if found.session in self.chains()
            ]
        self.made.add(made)
        return made

    def chains(self):
        return {file.stem for file in (self.paths.state / "audit").glob("*.jsonl")}

    def records(self):
        (chain,) = self.chains()
        return [kind for _, kind, _ in read_bodies(self.paths.audit_log(SessionId(chain)))]


@pytest.fixture
def world(engine, sandbox_image, tmp_path):
    world = World(engine, sandbox_image, tmp_path)
    yield world
    for image in world.made - {sandbox_image}:
        drop_image(engine, image)


pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]


def test_without_steps_the_named_image_is_used(world):
    """And no chain is begun."""
    assert world.prepare() == world.named
    assert world.chains() == set()


def test_steps_are_taken_once_and_recorded(world, engine, runtime_directory):
    """As root, without a network, whatever characters they hold; the second start finds them."""
    commands = ("id -u > /made-by", 'printf "%s" "a\\"b\n\\$c" > /odd; ls /sys/class/net > /net')
    made = world.prepare(*commands)
    again = world.prepare(*commands)

    found = Stage(engine, made, runtime_directory).output("cat /made-by /net /odd")

    assert again == made
    assert found == '0\nlo\na"b\n$c'
    assert world.records()[:4] == [
        "genesis", "prepare_step", "prepare_step", "prepared",
    ]  # fmt: skip
    assert len([line for line in world.said if "preparing" in line]) == 1


def test_steps_reach_outside_through_the_proxy_alone(world):
    """By its variables, and by name where a program ignores them; nothing of it stays."""
    made = world.prepare(
        "curl -sSf http://files.example/a > /srv/proxied",
        "python3 -c \"import http.client as h; c = h.HTTPConnection('files.example');"
        " c.request('GET', '/b'); open('/srv/direct', 'wb').write(c.getresponse().read())\"",
        "! getent hosts other.invalid",
        "grep -q c2lnbmVkLWJ5LXVz $SSL_CERT_FILE && grep -c BEGIN $SSL_CERT_FILE > /srv/authorities",
        "env | grep -i proxy > /dev/null",
        networked=True,
    )
    config = world.engine.api.inspect_image(made)["Config"]
    before = world.engine.api.inspect_image(world.named)["Config"]

    assert world.server.asked == [
        ("proxy", "", "GET http://files.example/a HTTP/1.1"),
        ("transparent", "files.example", "GET /b HTTP/1.1"),
    ]
    assert world.server.callers == {None}
    assert config["Env"] == before["Env"]
    assert "c2lnbmVkLWJ5LXVz" not in json.dumps(config)


def test_a_step_that_fails_says_what_it_said(world):
    """Nothing is kept but the record."""
    with pytest.raises(EngineError, match=r"run echo no; exit 3: exit code 3; .*\nno") as caught:
        world.prepare("echo no; exit 3")

    assert "has no network" in caught.value.hint
    assert "prepare_failed" in world.records()


def test_a_certificate_that_would_stay_is_refused(world):
    """It is this build's alone, and nobody's after it."""
    with pytest.raises(EngineError, match=r"left the certificate .* in /etc/ssl/mine\.pem"):
        world.prepare("cp $SSL_CERT_FILE /etc/ssl/mine.pem", networked=True)


def test_gvisor_is_refused_with_the_reason(world):
    """Its containers have each a network of their own."""
    preparation = Preparation(
        world.engine, None, policy(world.tmp_path, ["true"]), world.paths, print,
        Relay(world.named, world.open_way),
    )  # fmt: skip
    sandbox = replace(preparation.policy.sandbox, runtime="runsc")
    under = replace(preparation, policy=replace(preparation.policy, sandbox=sandbox))

    with pytest.raises(EngineError, match="gVisor"):
        anyio.run(under.image, world.named)


def test_a_step_tells_a_line_now_and_then():
    """The first at once; a hundred lines a second would bury what matters."""
    said, times = [], iter([0.0, 0.0, 1.0, 2.5, 2.5, 3.0])
    told = now_and_then(said.append, now=lambda: next(times))
    for line in "abcd":
        told(line)

    assert said == ["a", "c"]


def test_the_box_that_leads_out_shares_its_network_and_no_files(tmp_path):
    """Its workspace is empty and small."""
    spec = relay_spec(policy(tmp_path, []), SessionId("a"), "image")

    assert spec.joined
    assert [(mount.kind, mount.target) for mount in spec.mounts] == [("tmpfs", "/workspace")]
    assert spec.uid > 0
