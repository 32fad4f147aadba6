from dataclasses import replace

import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.images import image_digest
from orchestrator.engine.layers import BoxImage
from orchestrator.errors import EngineError
from orchestrator.harness.images import box_image, prepared_image, with_source
from orchestrator.harness.packages.steps import prepared_name
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import Digest
from orchestrator.schema.posture import Posture
from tests.support.images import imported_image


@pytest.fixture
def policy(tmp_path):
    return load_policy(("default",), search=asset("policies"), user_file=tmp_path / "none.yaml")


def test_record_names_both_images():
    """What the box runs from, and what that was made of."""
    image = BoxImage("glovebox/layer:1", Digest("sha256:1"), "debian:12", Digest("sha256:2"))

    posture = with_source(Posture({"seccomp": True}, {"image_digest": "sha256:1"}), image)

    assert posture.controls == {"seccomp": True}
    assert posture.facts == {
        "image_digest": "sha256:1",
        "named_image": "debian:12",
        "named_image_digest": "sha256:2",
    }
    prepared = with_source(posture, replace(image, prepared_in="abc")).facts
    assert prepared["prepared_in"] == "abc"


@pytest.mark.docker
@pytest.mark.usefixtures("sandbox_image")
def test_any_image_gets_its_layer(engine, policy):
    """The first use makes it and says so; what it was made of stays told apart."""
    said = []
    with imported_image(engine, {"only": b""}) as named:
        made = box_image(engine, named, policy=policy, ids=(1000, 1000), note=said.append)
        try:
            again = box_image(engine, named, policy=policy, ids=(1000, 1000), note=said.append)
        finally:
            engine.api.remove_image(made.name, force=True)

    assert made == again
    assert (made.of, made.name.partition(":")[0]) == (named, "glovebox/layer")
    assert len(said) == 1


@pytest.mark.docker
def test_an_image_whose_steps_were_not_taken_is_refused(engine, policy, sandbox_image):
    """They are taken before a session, by whoever can ask a person."""
    sandbox = replace(policy.sandbox, prepare_commands=("true",))
    under = replace(policy, sandbox=sandbox)

    with pytest.raises(EngineError, match="have not been taken on it yet") as caught:
        box_image(engine, sandbox_image, policy=under, ids=(1000, 1000), note=print)

    assert "glovebox run" in caught.value.hint
    assert prepared_image(engine, sandbox_image, policy=policy) == sandbox_image


@pytest.mark.docker
def test_a_prepared_image_gets_its_layer_and_keeps_its_name(engine, policy, sandbox_image):
    """The record names what the policy named."""
    sandbox = replace(policy.sandbox, prepare_commands=("true",))
    under = replace(policy, sandbox=sandbox)
    name = prepared_name(under, image_digest(engine, sandbox_image))
    repository, _, tag = name.partition(":")
    engine.api.tag(sandbox_image, repository, tag)
    try:
        made = box_image(engine, sandbox_image, policy=under, ids=(1000, 1000), note=print)
    finally:
        engine.api.remove_image(name)

    assert made.of == sandbox_image
