"""A project's own policy only takes away."""

from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from orchestrator.errors import PolicyError
from orchestrator.policy.document import Default, PolicyDocument
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import ProjectText, load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.policy.tightening import LOOSEST
from orchestrator.schema.request import ExecRequest

SESSION = """
limits: {steps: 50}
commands: {default: allow}
tools: {default: allow}
sandbox: {tmpfs: {/tmp: 1GiB}}
"""


@pytest.fixture
def under(tmp_path):
    """Loads a session's policy, beneath a project's file."""

    def load(project, session=SESSION):
        (tmp_path / "p.yaml").write_text(f"version: 1\nname: p\n{session}")
        (tmp_path / "open.yaml").write_text("version: 1\nname: open\ncommands: {default: allow}\n")
        text = f"version: 1\nname: ours\n{project}\n".encode()
        return load_policy(
            ["p"],
            search=tmp_path,
            user_file=None,
            projects=[ProjectText(".glovebox/policy.yaml", text)],
            system=OwnedFolder(tmp_path / "none"),
        )

    return load


LOOSE = [
    ("sandbox: {image: 'evil:latest'}", "sandbox.image chooses what the box runs"),
    ("sandbox: {runtime: evil}", "sandbox.runtime chooses"),
    ("sandbox: {prepare: {commands: [x]}}", "sandbox.prepare runs steps as root"),
    ("services: {db: {image: x, port: 1}}", "services starts further containers"),
    ("sandbox: {read_only_root: false}", "sandbox.read_only_root: false would loosen"),
    ("sandbox: {home: project}", "sandbox.home: project would loosen"),
    ("sandbox: {exec_record: false}", "sandbox.exec_record: false would loosen"),
    ("commands: {unexpected: report}", "commands.unexpected: report would loosen"),
    ("sandbox: {project_image: ask}", "sandbox.project_image: ask would loosen"),
    ("workspace: {mode: bind}", "workspace.mode: bind would loosen"),
    ("workspace: {add_dirs: allow}", "workspace.add_dirs: allow would loosen"),
    ("models: {in_box: allow}", "models.in_box: allow would loosen"),
    ("models: {box: {remote: allow}}", "models.box.remote: allow would loosen"),
    ("models: {box: {map: {'*': a/b}}}", "models.box.map chooses which model is paid for"),
    ("approvals: {yolo: allow}", "approvals.yolo: allow would loosen"),
    ("audit: {sign: false}", "audit.sign: false would loosen"),
    ("tools: {bash: allow}", "tools.bash: allow would loosen"),
    ("tools: {default: allow}", "tools.default: allow would loosen"),
    ("commands: {default: allow}", "commands.default: allow would loosen"),
    ("commands: {risks: {secrets: allow}}", "commands.risks.secrets: allow would loosen"),
    (
        "commands: {risks: {secrets: {normal: allow, high: ask}}}",
        "commands.risks.secrets.normal: allow would loosen",
    ),
    (
        "commands: {rules: [{id: x, program: git, risks: [publishes], effect: allow}]}",
        "commands.rules.effect: allow would loosen",
    ),
    ("files: {read: {default: allow}}", "files.read.default: allow would loosen"),
    (
        "files: {write: {rules: [{id: x, paths: a, effect: allow}]}}",
        "files.write.rules.effect: allow would loosen",
    ),
    ("network: {default: allow}", "network.default: allow would loosen"),
    (
        "network: {rules: [{id: x, hosts: a.example, effect: allow}]}",
        "network.rules.effect: allow would loosen",
    ),
    (
        "network: {rules: [{id: x, hosts: a.b, effect: ask, inject: {secret: s, header: h}}]}",
        "network.rules.inject sends one of the person's keys along",
    ),
]


def switches(model, loc=()):
    """Every key below a section that is a switch or a choice of words, but no vote."""
    for name, field in model.model_fields.items():
        kinds = [each for each in get_args(field.annotation) if each is not type(None)]
        for kind in kinds or [field.annotation]:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from switches(kind, (*loc, name))
            elif (kind is bool or get_origin(kind) is Literal) and kind != Default:
                yield (*loc, name)


def test_every_switch_has_a_loosest_position():
    """A key that is added later is thought of, or this fails."""
    found = set(switches(PolicyDocument)) - {("version",)}

    assert ("sandbox", "read_only_root") in found
    assert found - set(LOOSEST) == set()


@pytest.mark.parametrize(("text", "expected"), LOOSE)
def test_key_that_loosens_is_an_error_with_its_line(under, text, expected):
    """Whoever wrote it is told, and nothing starts."""
    with pytest.raises(PolicyError) as caught:
        under(text)

    assert caught.value.message.startswith(f".glovebox/policy.yaml:3: {expected}")
    assert "can only tighten" in caught.value.hint


def test_every_loosening_key_is_told_in_order(under):
    """One round of mending is enough."""
    with pytest.raises(PolicyError) as caught:
        under("tools: {bash: allow}\nlimits: {steps: 1}\naudit: {sign: false}")

    places = [line.split(": ")[0] for line in caught.value.message.split("\n")]
    assert places == [".glovebox/policy.yaml:3", ".glovebox/policy.yaml:5"]


def test_what_tightens_holds(under):
    """Numbers, globs, votes, switches."""
    policy = under(
        "limits: {steps: 5}\nworkspace: {protected: [deploy/**], mode: copy}\n"
        "approvals: {yolo: deny}\n"
        "commands: {rules: [{id: no-make, program: make, effect: deny}]}"
    )
    decision = evaluate(policy, ExecRequest("make", "/workspace", 1.0), tool="bash")

    assert [layer.name for layer in policy.layers] == ["project", "session"]
    assert policy.limits.steps == 5
    assert policy.workspace.protected == ("deploy/**",)
    assert (policy.workspace.mode, policy.workspace.modes) == ("copy", ("none", "copy"))
    assert policy.approvals.yolo == "deny"
    assert (decision.effect, decision.layer) == ("deny", "project")
    assert policy.layers[0].source.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("limits: {steps: 500}", lambda policy: policy.limits.steps == 50),
        ("sandbox: {cpus: 64}", lambda policy: policy.sandbox.cpus == 2.0),
        ("sandbox: {memory: 64GiB}", lambda policy: policy.sandbox.memory == 4 * 2**30),
        ("sandbox: {tmpfs: {/usr: 1GiB}}", lambda policy: list(policy.sandbox.tmpfs) == ["/tmp"]),
        ("sandbox: {tmpfs: {/tmp: 9GiB}}", lambda policy: policy.sandbox.tmpfs["/tmp"] == 2**30),
        ("models: {allow: ['*']}", lambda policy: not policy.model_allowed("x")),
        ("files: {read_roots: [/usr]}", lambda policy: policy.read_roots == ()),
        ("network: {packages: [pip]}", lambda policy: policy.network.packages == ()),
        ("approvals: {scopes: [project]}", lambda policy: policy.approvals.scopes == ()),
        ("approvals: {timeout: 9h}", lambda policy: policy.approvals.timeout == 600.0),
        ("workspace: {modes: [bind]}", lambda policy: "bind" not in policy.workspace.modes),
        ("network: {default: ask}", lambda policy: policy.network.default == "deny"),
    ],
)
def test_more_than_the_others_give_is_not_given(under, text, value):
    """A project alone stands for nothing: the built-in value is held against it too."""
    assert value(under(text))


def test_smaller_scratch_directories_hold(under):
    """The others' directories, the project's size."""
    assert under("sandbox: {tmpfs: {/tmp: 1MiB}}").sandbox.tmpfs == {"/tmp": 2**20}


def test_what_nobody_else_allows_is_not_allowed_by_what_it_extends(under):
    """A shipped policy's yes, by way of a project's file, is no vote."""
    request = ExecRequest("make", "/workspace", 1.0)
    silent = "commands: {default: delegate}\ntools: {default: allow}"
    decision = evaluate(under("extends: [open]", silent), request, tool="bash")

    assert (decision.effect, decision.rule) == ("deny", "unmatched")
    spoken = silent.replace("delegate", "allow")
    assert evaluate(under("extends: [open]", spoken), request, tool="bash").effect == "allow"


def test_other_files_cannot_be_extended(under):
    """They could change without a question."""
    with pytest.raises(PolicyError, match=r"policy.yaml:3: extends '\.\./x\.yaml'"):
        under("extends: [../x.yaml]")
