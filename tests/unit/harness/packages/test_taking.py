from types import SimpleNamespace

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.config.settings import EgressSettings
from orchestrator.engine.images import image_digest
from orchestrator.errors import ConfigError
from orchestrator.harness.egress.net import Net
from orchestrator.harness.packages.steps import prepared_name
from orchestrator.harness.packages.taking import Taking
from orchestrator.policy.load import load_policy
from tests.support.images import drop_image


def governed(tmp_path, text):
    file = tmp_path / "policy.yaml"
    file.write_text(f"version: 1\nname: t\nextends: [default]\n{text}\n")
    policy = load_policy((str(file),), search=asset("policies"), user_file=tmp_path / "none.yaml")
    return SimpleNamespace(policy=policy, options=SimpleNamespace(image=None))


def take(under, tmp_path):
    paths = Paths(tmp_path / "state", tmp_path / "config")
    said = []
    taking = Taking(under, None, paths, said.append, EgressSettings(), net=Net())
    anyio.run(taking.take)
    return said


def test_a_policy_without_steps_costs_nothing(tmp_path):
    """No engine is asked."""
    assert take(governed(tmp_path, ""), tmp_path) == []


def test_steps_that_cannot_be_taken_are_an_error_of_the_policy(tmp_path):
    """Before anything is made."""
    with pytest.raises(ConfigError, match=r"network\.packages"):
        take(governed(tmp_path, "sandbox: {prepare: {packages: [tree]}}"), tmp_path)


@pytest.mark.docker
def test_steps_are_taken_on_the_shipped_image_where_none_is_named(engine, sandbox_image, tmp_path):
    """Once: the second start says nothing."""
    under = governed(tmp_path, "sandbox: {prepare: {commands: [echo step]}}")
    name = prepared_name(under.policy, image_digest(engine, sandbox_image))
    try:
        first, second = take(under, tmp_path), take(under, tmp_path)
    finally:
        drop_image(engine, name)

    assert "image: step" in first
    assert second == []
