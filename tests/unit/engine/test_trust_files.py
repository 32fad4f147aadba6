import pytest

from orchestrator.engine.trust_files import BUNDLE, PLACES, STORE, trust_files
from orchestrator.schema.way_out import WayOut
from tests.support.boxes import Stage
from tests.support.images import gloved, imported_image

SHIPPED = {STORE: b"shipped"}
FEDORA = PLACES[1]


@pytest.mark.parametrize(
    ("image", "files", "linked"),
    [
        ({PLACES[0]: b"own"}, {STORE: b"own"}, {PLACES[0]}),
        ({FEDORA: b"own"}, {STORE: b"own"}, {FEDORA}),
        ({PLACES[0]: b"first", FEDORA: b"second"}, {STORE: b"first"}, {PLACES[0], FEDORA}),
        ({PLACES[0]: b"made anew", STORE: b"old"}, {STORE: b"made anew"}, {PLACES[0]}),
        # Made from our image, whose places are links already.
        ({STORE: b"own"}, {}, set()),
        ({}, {STORE: b"shipped"}, {PLACES[0]}),
    ],
    ids=["debian", "fedora", "both", "rebuilt", "ours", "none"],
)
def test_usual_places_lead_to_the_bundle_of_the_box(image, files, linked):
    """What the image trusts is kept, and is what counts outside of a box."""
    found, links = trust_files(image.get, SHIPPED.get)

    assert dict(found) == files
    assert dict(links) == {**dict.fromkeys(linked, BUNDLE), **({BUNDLE: STORE} if linked else {})}


class Nobody:
    async def serve(self, *_):
        raise ConnectionResetError

    async def knows(self, *_):
        return False


@pytest.mark.docker
def test_every_image_trusts_its_own_and_then_the_session_s(
    engine, sandbox_image, runtime_directory
):
    """A store of the image's own is what programs read, in a box with and without a way out."""
    own = {"etc/ssl/certs/ca-certificates.crt": b"IMAGE'S OWN\n", "bin": None}
    told = "while read -r line; do echo $line; done < /etc/ssl/certs/ca-certificates.crt"

    async def scene(scene):
        said = [await scene.output(told)]
        async with scene.box.let_out(WayOut("SESSION'S\n"), Nobody()):
            said.append(await scene.output(told))
            said.append(await scene.output('while read -r l; do echo $l; done < "$SSL_CERT_FILE"'))
            outcome = await scene.run("echo x > $SSL_CERT_FILE; echo x > /opt/glovebox-trust/x")
            assert "Permission denied" in outcome.data["head"]
        said.append(await scene.output(told))
        return said

    with (
        imported_image(engine, own) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        found = Stage(engine, layer, runtime_directory).play(scene)

    both = "IMAGE'S OWN\n\nSESSION'S\n"
    assert found == ["IMAGE'S OWN\n", both, both, "IMAGE'S OWN\n"]


@pytest.mark.docker
@pytest.mark.parametrize("ids", [(1000, 1000), (4242, 4243)])
def test_shipped_image_has_its_authorities(engine, sandbox_image, runtime_directory, ids):
    """In a box, and where somebody builds on it."""
    count = "grep -c BEGIN /etc/ssl/certs/ca-certificates.crt"
    with gloved(engine, sandbox_image, runtime=sandbox_image, ids=ids) as layer:
        stage = Stage(engine, layer, runtime_directory)
        boxed = int(stage.output(count, uid=ids[0], gid=ids[1]))
        made = engine.api.create_container(
            layer, entrypoint=["sh", "-c", count], network_disabled=True
        )
        try:
            engine.api.start(made["Id"])
            engine.api.wait(made["Id"])
            plain = int(engine.api.logs(made["Id"]))
        finally:
            engine.api.remove_container(made["Id"], force=True)

    assert boxed == plain > 50
