import pytest

from orchestrator.engine.layers import BoxImage
from orchestrator.harness.images import box_image, with_source
from orchestrator.schema.ids import Digest
from orchestrator.schema.posture import Posture
from tests.support.images import imported_image


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


@pytest.mark.docker
@pytest.mark.usefixtures("sandbox_image")
def test_any_image_gets_its_layer(engine):
    """The first use makes it and says so, escaped; what it was made of stays told apart."""
    said = []
    with imported_image(engine, {"only": b""}) as named:
        made = box_image(engine, named, ids=(1000, 1000), note=said.append)
        try:
            again = box_image(engine, named, ids=(1000, 1000), note=said.append)
        finally:
            engine.api.remove_image(made.name, force=True)

    assert made == again
    assert (made.of, made.name.partition(":")[0]) == (named, "glovebox/layer")
    assert len(said) == 1
