from contextlib import closing

import pytest

from orchestrator.engine.client import connect
from orchestrator.engine.layers import OF_DIGEST_LABEL
from orchestrator.engine.made_images import list_made, prune_made
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest
from tests.support.images import gloved, imported_image

RUNTIME = Digest("sha256:runtime")
LAYER = {"glovebox.kind": "layer", "glovebox.of": "debian:12", OF_DIGEST_LABEL: "sha256:base"}


@pytest.fixture
def scripted(scripted_engine):
    with closing(connect(scripted_engine.url)) as engine:
        yield engine


def image(number, tag, created=1, **labels):
    return {
        "Id": f"sha256:{number}",
        "RepoTags": [tag],
        "Created": created,
        "Size": 5,
        "Labels": labels,
    }


def layer(number, tag, **more):
    return image(number, tag, **{**LAYER, "glovebox.runtime": RUNTIME, **more})


def built(number, tag, *stands_on):
    labels = {"glovebox.kind": "built", "glovebox.source": "./Dockerfile"}
    return image(number, tag, **labels, **{"glovebox.built-from": ",".join(stands_on)})


BASE = image("base", "debian:12")


def says(scripted_engine, *images, used=()):
    scripted_engine.say("GET /images/json", (200, list(images)))
    scripted_engine.say("GET /containers/json", (200, [{"ImageID": each} for each in used]))


def test_each_is_told_with_what_it_was_made_of(scripted, scripted_engine):
    """Layers first; what is not ours is none of them."""
    says(scripted_engine, built(2, "p:1", "sha256:base"), layer(1, "l:1"), BASE, used=["sha256:1"])

    found = list_made(scripted, runtime=RUNTIME)

    assert [(each.name, each.kind, each.of, each.in_use, each.lost) for each in found] == [
        ("l:1", "layer", "debian:12", True, ""),
        ("p:1", "built", "./Dockerfile", False, ""),
    ]


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        (layer(1, "<none>:<none>"), "a newer one has its name"),
        (layer(1, "l:1", **{"glovebox.runtime": "sha256:old"}), "runtime of another"),
        (layer(1, "l:1", **{OF_DIGEST_LABEL: "sha256:gone"}), "its image is gone"),
        (built(1, "p:1", "sha256:base", "sha256:gone"), "built from is gone"),
    ],
)
def test_what_nothing_can_use_is_removed(scripted, scripted_engine, lost, why):
    """With the reason in the list; what can be used stays."""
    scripted_engine.say(
        "GET /images/json",
        *[(200, [lost, layer(2, "l:2"), BASE])] * 2,
        (200, [layer(2, "l:2"), BASE]),
    )
    scripted_engine.say("GET /containers/json", (200, []))
    name = lost["RepoTags"][0] if lost["RepoTags"] != ["<none>:<none>"] else lost["Id"]
    scripted_engine.say(f"DELETE /images/{name}", (200, []))

    assert why in next(each.lost for each in list_made(scripted, runtime=RUNTIME) if each.lost)
    assert prune_made(scripted, runtime=RUNTIME) == ([name], [])


def test_one_in_use_stays(scripted, scripted_engine):
    """The engine refuses, and that ends neither the command nor the look at the others."""
    says(scripted_engine, built(1, "p:1", "sha256:gone"), built(2, "p:2", "sha256:gone"))
    scripted_engine.say("DELETE /images/p:1", (409, {"message": "in use"}))
    scripted_engine.say("DELETE /images/p:2", (200, []))

    assert prune_made(scripted, runtime=RUNTIME) == (["p:2"], ["p:1"])


def test_failure_is_not_hidden(scripted, scripted_engine):
    """Any refusal but "in use" ends the command."""
    says(scripted_engine, built(1, "p:1", "sha256:gone"))
    scripted_engine.say("DELETE /images/p:1", (500, {"message": "disk is broken"}))

    with pytest.raises(EngineError, match="disk is broken"):
        prune_made(scripted, runtime=RUNTIME)


@pytest.mark.docker
def test_layer_is_lost_when_its_image_goes(engine, sandbox_image):
    """A real engine keeps the layers below; that the name is gone is what counts."""
    runtime = Digest(engine.api.inspect_image(sandbox_image)["Id"])

    def lost(name):
        return next(each.lost for each in list_made(engine, runtime=runtime) if each.name == name)

    with (
        imported_image(engine, {"only": b""}) as named,
        gloved(engine, named, runtime=sandbox_image) as glove,
    ):
        before = lost(glove)
        engine.api.remove_image(named)
        after = lost(glove)

    assert (before, after) == ("", "its image is gone")
