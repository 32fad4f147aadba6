"""Every layer that holds, and no flag around it."""

from dataclasses import replace
from functools import partial

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer, ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.errors import ConfigError, PolicyError
from orchestrator.harness.governing import (
    agreed_policy,
    loaded_policy,
    policy_of,
)
from orchestrator.harness.overrides import refuse_overrides
from orchestrator.policy.effective import Origin
from orchestrator.policy.yaml_nodes import Place


def write(project, text):
    (project / ".glovebox").mkdir(exist_ok=True)
    (project / ".glovebox" / "policy.yaml").write_text(f"version: 1\nname: ours\n{text}\n")


def agree(options, policy, paths, confirmer):
    anyio.run(partial(agreed_policy, options, policy, paths, confirmer=confirmer))


def test_projects_own_policy_is_a_layer(options, project, paths):
    """Once a person knows it; before, nobody's silence starts anything."""
    write(project, "limits: {steps: 3}")
    run = options()
    with pytest.raises(PolicyError, match="nobody has said yes"):
        policy_of(run, paths)
    policy = loaded_policy(run, paths)
    with pytest.raises(PolicyError, match="nobody has said yes"):
        agree(run, policy, paths, NobodyConfirmer())
    agree(run, policy, paths, ScriptedConfirmer([Answer(yes=True, by="terminal")]))

    held = policy_of(run, paths)
    assert [layer.name for layer in held.layers] == ["project", "session"]
    assert held.limits.steps == 3


def test_what_was_loaded_is_what_is_asked_about(options, project, paths):
    """A file that changes in between holds in neither form."""
    write(project, "limits: {steps: 3}")
    run = options()
    policy = loaded_policy(run, paths)
    write(project, "limits: {steps: 300}")

    with pytest.raises(PolicyError, match="changed while the session was about to begin"):
        agree(run, policy, paths, ScriptedConfirmer([Answer(yes=True, by="terminal")]))


def test_project_that_loosens_stops_before_it_is_asked_about(options, project, paths):
    """With the line, and nothing to say yes to."""
    write(project, "commands: {default: allow}")

    with pytest.raises(PolicyError, match=r"policy.yaml:3: commands.default: allow would loosen"):
        loaded_policy(options(), paths)


def test_yolo_that_a_layer_denies_is_refused_with_its_line(options, paths):
    """A user's own word, too, holds for all their sessions."""
    paths.config.mkdir()
    path = paths.config / "policy.yaml"
    path.write_text("version: 1\nname: mine\napprovals: {yolo: deny}\n")

    assert loaded_policy(options(), paths).approvals.yolo == "deny"
    with pytest.raises(ConfigError, match=rf"--yolo: .*user {path}:3") as caught:
        loaded_policy(options(yolo=True), paths)
    assert caught.value.exit_code == 7


@pytest.mark.parametrize("layer", ["org", "team"])
def test_image_of_a_binding_layer_is_not_replaced(options, paths, layer):
    """Neither by a flag nor by a setting; the same name is no other image."""
    policy = loaded_policy(options(), paths)
    named = replace(
        policy,
        sandbox=replace(policy.sandbox, image="acme/box"),
        origins={**policy.origins, "sandbox.image": Origin(layer, Place("org.yaml", 4))},
    )

    refuse_overrides(options(image="acme/box"), named)
    refuse_overrides(options(), named)
    with pytest.raises(ConfigError, match=rf"--image x: expected acme/box \({layer} org.yaml:4\)"):
        refuse_overrides(options(image="x"), named)


def test_image_of_ones_own_layers_may_be_replaced(options, paths):
    """What a person set for all sessions they may set for one."""
    paths.config.mkdir()
    text = "version: 1\nname: mine\nsandbox: {image: debian}\n"
    (paths.config / "policy.yaml").write_text(text)

    assert loaded_policy(options(image="other"), paths).sandbox.image == "debian"
