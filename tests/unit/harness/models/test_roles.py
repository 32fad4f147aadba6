"""Which models a session asks."""

from pathlib import Path

from orchestrator.harness.models.roles import Roles
from orchestrator.harness.options import RunOptions


def test_roles_are_what_the_options_say():
    options = RunOptions(
        "x", Path("/"), "a/b", small_model="a/s", fallback=("c/d",), thinking="low"
    )

    assert Roles.of(options) == Roles("a/b", "a/s", ("c/d",), "low")
