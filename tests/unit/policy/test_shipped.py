"""The policies that ship do what they say."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.lint import lint_layer
from orchestrator.schema.request import ExecRequest, ReadRequest, WriteRequest
from orchestrator.shell.analysis import Finding
from tests.support.commands import ScriptedReader, analysis, command
from tests.support.egress import judge

FOLDER = Path(__file__).parents[3] / "policies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
BOX_ONLY = Path(__file__).parents[2] / "support" / "policies" / "box-only.yaml"


def _risk(policy, risk, severity="ask"):
    found = (Finding(risk, risk, (0, 1), severity=severity),)
    reader = ScriptedReader(analysis(command("x"), findings=found))
    return evaluate(policy, ExecRequest("x", "/workspace", 10), tool="bash", read=reader)


def _file(policy, make, path):
    request = WriteRequest(path, "") if make is WriteRequest else ReadRequest(path)
    return evaluate(policy, replace(request, resolved=path), tool="write")


OPEN = {"open-egress": "allow", "yolo": "ask"}
"""Policies that mean to let out what no rule names, and how."""


def test_the_policies_of_the_manual_ship():
    """All of its table, and nothing that it does not name."""
    manual = (FOLDER.parent / "docs" / "policies.md").read_text()
    table = manual.partition("## The shipped policies")[2].partition("## A file")[0]

    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_policy_loads_and_is_described(shipped, name):
    """It is called what its file is called, and its examples hold."""
    policy = shipped(name)

    assert policy.layers[0].document.name == name
    assert policy.layers[0].document.description


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_policy_gives_lint_nothing_unmeant(shipped, name):
    """Only what is meant: yolo allows on purpose, and open-egress lets out."""
    remarks = [item.text for item in lint_layer(shipped(name).layers[0])]

    if name in OPEN:
        remarks = [text for text in remarks if "any public host may be reached" not in text]
    assert remarks == []


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_policy_keeps_the_box_shut(shipped, name):
    """No shipped policy opens in-box models, hooks or keys; the network where it says so."""
    policy = shipped(name)

    assert policy.network.default == OPEN.get(name, "deny")
    assert (policy.network.rules == ()) == (name != "team-example")
    assert policy.box_models.in_box == "deny"
    assert policy.sandbox.read_only_root
    assert {"no_network", "non_root", "seccomp", "no_new_privileges"} <= set(policy.sandbox.require)
    assert policy.audit_sign
    assert _file(policy, WriteRequest, "/workspace/.git/hooks/pre-commit").unyielding
    assert _file(policy, WriteRequest, "/workspace/sub/.vscode/tasks.json").effect == "ask"
    assert _file(policy, ReadRequest, "/workspace/app/.env").effect == "deny"
    assert _file(policy, ReadRequest, "/workspace/app/.env.example").effect != "deny"
    assert _risk(policy, "evasion").effect == "deny"
    assert _risk(policy, "opaque", "high").effect != "allow"
    for risk in ("publishes", "upload", "secrets"):
        assert _risk(policy, risk).effect != "allow"
    for risk in ("destructive", "exhaustion", "privilege", "persistence", "remote_code"):
        assert _risk(policy, risk, "high").effect != "allow"


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "deploy/.env.production", "a/id_ed25519", "certs/server.key", ".aws/credentials"),
        *("privkey.pem", "my-private-key.pem", "terraform.tfstate", "home/.ssh/config"),
    ],
)
def test_default_hides_secrets(shipped, path):
    """Files that hold secrets are not read."""
    assert _file(shipped("default"), ReadRequest, f"/workspace/{path}").rule == "hidden"


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.sample", ".env.template", "env.py", "cacert.pem", "id_rsa.pub"),
        *("keys.py", "src/key.ts", "docs/ssh.md", "terraform.tf"),
    ],
)
def test_default_shows_what_only_looks_like_a_secret(shipped, path):
    """Templates, certificates and code stay visible."""
    assert _file(shipped("default"), ReadRequest, f"/workspace/{path}").effect == "allow"


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".github/ISSUE_TEMPLATE/bug.md",
        "src/a.py",
        "README.md",
        "Makefile",
        "package.json",
    ],
)
def test_default_does_not_ask_about_ordinary_files(shipped, path):
    """A question for each edit is a question nobody reads."""
    assert _file(shipped("default"), WriteRequest, f"/workspace/{path}").effect == "allow"


def test_yolo_asks_nothing_that_discard_undoes(shipped):
    """Deletes in the workspace run; what leaves the box or cannot be read is asked."""
    policy = shipped("yolo")

    assert _risk(policy, "destructive").effect == "allow"
    assert _risk(policy, "exhaustion").effect == "allow"
    assert _risk(policy, "publishes").effect == "ask"
    assert _risk(policy, "opaque").effect == "ask"
    assert _risk(policy, "destructive", "high").effect == "ask"
    assert _file(policy, WriteRequest, "/home/agent/.bashrc").effect == "allow"


LEAVING = (
    "GET https://www.example.com/",
    "POST https://www.example.com/",
    "LOOKUP www.example.com",
)
NEAR = ("CONNECT localhost:80", "CONNECT 10.0.0.1:443", "GET http://169.254.169.254/latest/")


@pytest.mark.parametrize("name", NAMES)
def test_what_leaves_the_box_by_a_shipped_policy(shipped, name):
    """Nothing of what is near; public hosts as the manual's table says."""
    policy = shipped(name)
    wanted = OPEN.get(name, "deny")

    assert [judge(policy, text).decision.effect for text in LEAVING] == [
        wanted,
        wanted,
        "deny" if wanted == "deny" else "allow",
    ]
    for text in NEAR:
        assert judge(policy, text).decision.layer == "floor"
    assert EgressRules(policy).may_let_out == (name in {*OPEN, "team-example"})


def test_the_team_example_reads_and_asks_before_it_pushes(shipped):
    """With credentials on the host alone."""
    policy = shipped("team-example")
    refs = "GET https://git.acme.example/acme/web.git/info/refs?service=git-"

    fetch, push = judge(policy, f"{refs}upload-pack"), judge(policy, f"{refs}receive-pack")
    assert (fetch.decision.effect, push.decision.effect) == ("allow", "allow")
    assert fetch.terms.injections[0].secret == "acme-git"
    sent = judge(policy, "POST https://git.acme.example/acme/web.git/git-receive-pack")
    assert (sent.decision.effect, sent.decision.rule) == ("ask", "git-push")
    other = judge(policy, "POST https://git.acme.example/evil/web.git/git-upload-pack")
    assert other.decision.effect == "deny"
    issues = judge(policy, "GET https://api.acme.example/repos/acme/web/issues/7?state=open")
    assert issues.terms.injections[0].format == "Bearer {secret}"
    assert judge(policy, "POST https://api.acme.example/gists").decision.effect == "deny"


def test_strict_is_short_and_asks_before_commands(shipped):
    """The numbers of the manual; readers run, everything else asks."""
    policy = shipped("strict")

    assert (policy.limits.steps, policy.limits.tokens) == (20, 100_000)
    for text, effect in (
        ("ls -la", "allow"),
        ("cat a | grep x | wc -l", "allow"),
        ("git status --short", "allow"),
        ("timeout 5 ls", "allow"),
        ("timeout 5 make", "ask"),
        ("env A=1 ls", "ask"),
        ("make test", "ask"),
        ("./ls", "ask"),
    ):
        assert evaluate(policy, ExecRequest(text, "/workspace", 9), tool="bash").effect == effect
    assert _file(policy, WriteRequest, "/workspace/src/a.py").effect == "allow"


def test_untrusted_repo_shares_nothing_live_and_publishes_nothing(shipped):
    """No live mount, no downloaded code, no publishing, one answer a question."""
    policy = shipped("untrusted-repo")

    assert "bind" not in policy.workspace.modes
    for risk in ("remote_code", "publishes", "upload", "secrets"):
        assert _risk(policy, risk).effect == "deny"
    assert policy.approvals.scopes == ("once",)
    assert _file(policy, WriteRequest, "/workspace/Makefile").rule == "protected"


def test_offline_allows_only_models_of_this_machine(shipped):
    """Inheriting from default does not bring its models along."""
    policy = shipped("offline")

    assert policy.model_allowed("local")
    assert policy.model_allowed("scripted:demo.yaml")
    assert not policy.model_allowed("anthropic/claude")
    assert _risk(policy, "remote_code").effect == "deny"


def test_default_allows_any_model_the_user_configures(shipped):
    """The user chooses on the command line."""
    assert shipped("default").model_allowed("anthropic/x")


def test_two_policies_together_keep_the_later_one_s_settings(shipped):
    """--policy default --policy offline reads as offline."""
    assert not shipped("default", "offline").model_allowed("anthropic/x")


def test_box_only_lets_every_command_through(shipped):
    """Probes of the box meet no gate but the floor."""
    policy = shipped(str(BOX_ONLY))

    for risk in ("destructive", "privilege", "opaque", "evasion", "exhaustion", "secrets"):
        assert _risk(policy, risk, "high").effect == "allow"
    assert not policy.workspace.protected


def test_team_example_judges_as_it_says(shipped):
    """What people copy does what its comments promise."""
    policy = shipped("team-example")

    for text, effect in (
        ("git push --force", "deny"),
        ("git push origin HEAD:topic", "ask"),
        ("npm publish", "deny"),
        ("terraform apply", "ask"),
        ("make test", "allow"),
    ):
        assert evaluate(policy, ExecRequest(text, "/workspace", 9), tool="bash").effect == effect
    assert policy.approvals.yolo == "deny"
    assert "bind" not in policy.workspace.modes
    assert not policy.model_allowed("openai/x")
    assert _file(policy, WriteRequest, "/workspace/a/deploy/run.sh").unyielding
