"""Data files of the package."""

import pytest

from orchestrator.config.assets import asset


@pytest.mark.parametrize(
    ("name", "member"), [("policies", "default.yaml"), ("sandbox-image", "Dockerfile")]
)
def test_assets_are_found_in_a_checkout(name, member):
    """As they are in a wheel, where they lie inside the package."""
    assert (asset(name) / member).is_file()
