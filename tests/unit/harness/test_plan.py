"""What is asked for follows from options and policy alone."""

from dataclasses import replace

import pytest

from orchestrator.errors import ConfigError
from orchestrator.harness.box_spec import Tenant
from orchestrator.harness.governing import policy_of
from orchestrator.harness.plan import RoomPlan
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.node import Limits


def plan(options, paths, **more):
    run = options(**more)
    return RoomPlan(run, policy_of(run, paths), SessionId("00feed00beef"))


def test_mode_is_policys_unless_asked(options, paths):
    """And then only among what policy offers."""
    assert plan(options, paths).mode == "overlay"
    assert plan(options, paths, workspace="none").mode == "none"


def test_fewer_files_may_be_made_than_can_be_read_back(options, paths):
    """With room for those made before the watch looks again; where none is read back, more."""
    tenant = Tenant(1000, 1000, ())
    most = Limits().entries

    assert plan(options, paths).box(tenant, image="i").limits.files < most
    assert plan(options, paths, workspace="copy").box(tenant, image="i").limits.files < most
    assert plan(options, paths, workspace="none").box(tenant, image="i").limits.files > most


def test_mode_that_policy_does_not_offer_is_refused(options, paths):
    """With the key that decides."""
    paths.config.mkdir()
    text = "version: 1\nname: mine\nworkspace: {modes: [overlay, copy]}\n"
    (paths.config / "policy.yaml").write_text(text)

    with pytest.raises(ConfigError, match="--workspace bind") as caught:
        _ = plan(options, paths, workspace="bind").mode

    assert "workspace.modes" in caught.value.hint


def test_image_is_the_flags_then_policys_then_our_own(options, paths):
    """The shipped one is named by its content."""
    assert plan(options, paths, image="debian").image == "debian"
    ours = plan(options, paths)
    named = replace(
        ours, policy=replace(ours.policy, sandbox=replace(ours.policy.sandbox, image="x"))
    )

    assert ours.image.startswith("glovebox/sandbox:")
    assert named.image == "x"


def test_spec_carries_policy_and_tenant(options, paths):
    """Equal plans ask for equal boxes."""
    made = plan(options, paths)
    tenant = Tenant(1000, 1001, ())

    assert made.box(tenant, image="i") == plan(options, paths).box(tenant, image="i")
    assert made.box(tenant, image="i").gid == 1001
    assert made.workspace(warm=True).warm
    assert made.workspace().hidden == made.policy.workspace.hidden
