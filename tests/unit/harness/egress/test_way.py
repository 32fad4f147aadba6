"""The way out put together: a scripted box on one side, a scripted network on the other."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import yaml

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.paths import Paths
from orchestrator.config.settings import ApprovalsSettings, EgressSettings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.confirmation.answers import ScriptedConfirmer
from orchestrator.dispatch.output import OutputFilter
from orchestrator.egress.packages.hosts import PackageHosts
from orchestrator.harness.desk import open_desk
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.way import (
    MOST_PORTS,
    lets_out,
    open_way_out,
    transparent_ports,
    way_facts,
)
from orchestrator.harness.governed import Governed
from orchestrator.harness.governing import loaded_policy
from orchestrator.harness.keys import open_key_store
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_image import ProjectImage
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted import ScriptedBox
from orchestrator.schema.event import Egress
from orchestrator.schema.way_out import Incoming
from tests.support.asking import yes
from tests.support.egress_desk import CURL, SESSION
from tests.support.upstream import upstream

pytestmark = pytest.mark.anyio
WEB = {"id": "web", "hosts": ["docs.acme.example"], "schemes": ["http"], "effect": "allow"}
GET = b"GET http://docs.acme.example/a HTTP/1.1\r\nHost: docs.acme.example\r\nConnection: close\r\n\r\n"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@dataclass
class Opened:
    """A way out that is open, or is not."""

    parts: WayParts
    box: ScriptedBox
    events: list
    notes: list
    file: object

    def bodies(self, kind):
        found = (json.loads(line) for line in self.file.read_bytes().splitlines())
        return [item["body"] for item in found if item["type"] == kind]


@asynccontextmanager
async def way(root, network, net, *answers, models=None, providers=None, packages=()):
    """Open the way out of a scripted box under a policy whose sections are given."""
    file = root / "policy.yaml"
    file.write_text(
        yaml.safe_dump({"version": 1, "name": "p", "network": network, "models": models or {}})
    )
    project = root / "project"
    project.mkdir(exist_ok=True)
    options = RunOptions(
        prompt=None, directory=project, model="none", policies=(str(file),), approve="ask"
    )
    paths, notes, events = Paths(root / "state", root / "config"), [], []
    policy = loaded_policy(options, paths)
    keys = open_key_store(paths, {"TOKEN": "value-of-a-variable"})
    desk = open_desk(paths, policy, ApprovalsSettings(), keys=keys, note=notes.append)
    chain = root / "audit" / "x.jsonl"
    audit = AuditLog.create(chain, session=SESSION, genesis={}, signer=Signer.load(root / "keys"))
    box = ScriptedBox()
    parts = WayParts(
        Governed(options, policy, keys, desk, ScriptedConfirmer(answers), ProjectImage(options)),
        SESSION,
        box,
        audit,
        OutputFilter(Redactor({})),
        RunningCalls(events.append),
        note=notes.append,
        paths=paths,
        providers=providers or {},
        environ={},
        net=net,
        packages=PackageHosts(packages),
    )
    async with open_way_out(parts):
        yield Opened(parts, box, events, notes, chain)
    audit.close()


async def test_program_in_the_box_reaches_what_a_rule_allows(tmp_path):
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [WEB]}, far.net) as opened,
    ):
        answer = await opened.box.way_out.converse(GET)
        told = opened.box.way_out.way

    assert b"hello" in answer
    assert told is not None
    assert "BEGIN CERTIFICATE" in told.certificates
    assert "PRIVATE KEY" not in told.certificates
    (event,) = [item for item in opened.events if isinstance(item, Egress)]
    assert (event.effect, event.bytes_down > 0) == ("allow", True)
    assert len(opened.bodies("egress_end")) == 1


async def test_program_in_the_box_is_told_why_not(tmp_path):
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [WEB]}, far.net) as opened,
    ):
        answer = await opened.box.way_out.converse(GET.replace(b"docs.", b"evil."))
        known = await opened.box.way_out.look_up("docs.acme.example", CURL)
        unknown = await opened.box.way_out.look_up("evil.acme.example", CURL)

    assert answer.startswith(b"HTTP/1.1 403 Refused by policy")
    assert (known, unknown) == (True, False)
    assert far.asked == []


async def test_person_is_asked_with_the_call_that_runs(tmp_path):
    rule = WEB | {"effect": "ask"}
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [rule]}, far.net, yes()) as opened,
    ):
        answer = await opened.box.way_out.converse(GET)

    assert b"hello" in answer
    (question,) = opened.parts.governed.confirmer.asked
    assert question.subject == "GET http://docs.acme.example/a"
    assert "no call runs" in " ".join(question.decision.notes)
    assert question.project == str(tmp_path / "project")


@pytest.mark.parametrize(
    "network",
    [{"default": "deny"}, {}, {"default": "deny", "rules": [WEB | {"effect": "deny"}]}],
)
async def test_policy_that_lets_nothing_out_opens_nothing(tmp_path, network):
    """The box is not told of anything, and no file is looked at."""
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, network, far.net) as opened,
    ):
        assert opened.box.way_out.way is None
        with pytest.raises(ConnectionRefusedError):
            await opened.box.way_out.connect(Incoming("proxy"))


async def test_missing_secret_is_told_at_the_start(tmp_path):
    """What needs it is refused; the rest goes on."""
    rule = {
        "id": "api",
        "hosts": ["api.acme.example"],
        "effect": "allow",
        "inject": {"secret": "env:NOT_THERE", "header": "Authorization"},
    }
    async with (
        upstream("api.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [rule]}, far.net) as opened,
    ):
        assert "set the variable NOT_THERE" in opened.notes[0]


async def test_secret_of_a_rule_is_known_to_the_redaction(tmp_path):
    rule = {
        "id": "api",
        "hosts": ["api.acme.example"],
        "effect": "allow",
        "inject": {"secret": "env:TOKEN", "header": "Authorization"},
    }
    async with (
        upstream("api.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [rule]}, far.net) as opened,
    ):
        scrubbed = opened.parts.output.scrub("it is value-of-a-variable")
        told = opened.box.way_out.way

    assert "value-of-a-variable" not in scrubbed
    assert "value-of-a-variable" not in repr(told)


async def test_posture_and_ports_follow_the_rules(tmp_path):
    ssh = {
        "id": "git",
        "hosts": ["git.acme.example"],
        "schemes": ["tcp"],
        "ports": [22, *range(9000, 9030)],
        "effect": "allow",
    }
    async with (
        upstream("git.acme.example") as far,
        way(tmp_path, {"default": "deny", "rules": [ssh]}, far.net) as opened,
    ):
        policy = opened.parts.governed.policy

    assert lets_out(policy)
    assert way_facts(policy, EgressSettings()) == {
        "way_out": "proxy on the host, by rule",
        "models_in_box": "none",
    }
    company = EgressSettings(upstream_proxy=UpstreamProxySettings(url="http://proxy.corp:3128"))
    assert way_facts(policy, company)["upstream_proxy"].startswith("http://proxy.corp:3128, names")
    assert transparent_ports(policy)[:3] == (80, 443, 22)
    assert len(transparent_ports(policy)) == MOST_PORTS
