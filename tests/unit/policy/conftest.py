"""Policies and commands for these tests, built from text the way users write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.layer import BoxPaths, Layer, LayerName, compile_layer
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.policy.validate import validate_document
from orchestrator.policy.yaml_nodes import parse_yaml

SHIPPED = Path(__file__).parents[3] / "policies"


def layer_of(text: str, name: LayerName = "session") -> Layer:
    """Return a layer of a policy's text; version and name are added."""
    tree = parse_yaml(f"version: 1\nname: {name}\n{text}", file=f"{name}.yaml")
    return compile_layer(name, validate_document(tree), tree, box=BoxPaths())


@pytest.fixture
def layer():
    """Builds a layer of text."""
    return layer_of


@pytest.fixture
def load(tmp_path: Path):
    """Writes policies by name and loads the named ones; ``user`` is the user's own."""

    def build(*names: str, user: str | None = None, **files: str) -> EffectivePolicy:
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(f"version: 1\nname: {name}\n{text}")
        user_file = tmp_path / "user-policy.yaml"
        if user is not None:
            user_file.write_text(f"version: 1\nname: mine\n{user}")
        return load_policy(
            names or ["p"],
            search=tmp_path,
            user_file=user_file,
            system=OwnedFolder(tmp_path / "none"),
        )

    return build


@pytest.fixture
def shipped():
    """Loads a shipped policy by name."""

    def build(*names: str) -> EffectivePolicy:
        return load_policy(
            names, search=SHIPPED, user_file=None, system=OwnedFolder(SHIPPED / "none")
        )

    return build
