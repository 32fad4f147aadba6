from collections.abc import Iterator
from contextlib import closing

import pytest

from orchestrator.engine.base_image import BASE, ensure_base
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.image_context import ContextFile, image_name
from orchestrator.engine.images import (
    SandboxImage,
    build_image,
    current_image,
    ensure_sandbox_image,
    follow_build,
    image_digest,
    list_images,
    prune_images,
)
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest

FILES = [ContextFile("Dockerfile", b"FROM x\n")]
NAME = image_name(FILES)
OLD = "glovebox/sandbox:0123456789ab"


@pytest.fixture
def engine(scripted_engine) -> Iterator[Engine]:
    with closing(connect(scripted_engine.url)) as connected:
        yield connected


@pytest.fixture
def real_engine() -> Iterator[Engine]:
    with closing(connect()) as connected:
        yield connected


def has(scripted_engine, name: str, **image: object) -> None:
    found = {"Id": "sha256:" + "1" * 64, "Config": {"Labels": {}}} | image
    scripted_engine.say(f"GET /images/{name}/json", (200, found))


def lacks(scripted_engine, name: str) -> None:
    answer = (404, {"message": f"No such image: {name}"})
    scripted_engine.say(f"GET /images/{name}/json", answer)


def built_on(base: str) -> dict[str, object]:
    return {"Config": {"Labels": {"glovebox.base": base}}}


def test_image_on_the_present_base_is_current(engine, scripted_engine):
    """An image with the right content on the base of today is used as it is."""
    has(scripted_engine, BASE, Id="sha256:base")
    has(scripted_engine, NAME, **built_on("sha256:base"))

    found = current_image(engine, FILES)

    assert found == SandboxImage(NAME, Digest("sha256:" + "1" * 64))
    assert str(found) == f"{NAME}@sha256:{'1' * 64}"


def test_image_on_an_older_base_is_stale(engine, scripted_engine):
    """A base that was renewed makes the images upon it old."""
    has(scripted_engine, BASE, Id="sha256:new")
    has(scripted_engine, NAME, **built_on("sha256:old"))

    assert current_image(engine, FILES) is None


def test_image_outlives_its_pruned_base(engine, scripted_engine):
    """Removing the base to save space does not force a new build."""
    lacks(scripted_engine, BASE)
    has(scripted_engine, NAME, **built_on("sha256:base"))

    assert current_image(engine, FILES) is not None


def test_missing_image_is_not_current(engine, scripted_engine):
    """No image, no currency."""
    lacks(scripted_engine, NAME)

    assert current_image(engine, FILES) is None


def test_engine_trouble_is_not_taken_for_absence(engine, scripted_engine):
    """An engine that fails to answer does not start a build."""
    scripted_engine.say(f"GET /images/{NAME}/json", (500, {"message": "disk is broken"}))

    with pytest.raises(EngineError, match="HTTP 500: disk is broken"):
        current_image(engine, FILES)


@pytest.mark.parametrize(
    ("name", "command"),
    [(OLD, "glovebox image build"), ("debian:12", "docker pull debian:12")],
)
def test_digest_of_a_missing_image_names_the_way_to_it(engine, scripted_engine, name, command):
    """Our own image is built, somebody else's is pulled."""
    lacks(scripted_engine, name)

    with pytest.raises(EngineError, match="does not have it") as caught:
        image_digest(engine, name)

    assert command in caught.value.hint


def test_list_shows_our_names_newest_first(engine, scripted_engine):
    """Names given by hand are nobody's business; a replaced build goes by its id."""
    images = [
        {"Id": "sha256:a", "RepoTags": [OLD], "Created": 1, "Size": 5},
        {"Id": "sha256:b", "RepoTags": [NAME, "glovebox/sandbox:latest"], "Created": 3, "Size": 5},
        {"Id": "sha256:c", "RepoTags": ["<none>:<none>"], "Created": 2, "Size": 5},
        {"Id": "sha256:d", "RepoTags": ["glovebox/sandbox:mine"], "Created": 4, "Size": 5},
    ]
    scripted_engine.say("GET /images/json", (200, images))

    listed = list_images(engine, NAME)

    assert [(image.name, image.current) for image in listed] == [
        (NAME, True),
        ("sha256:c", False),
        (OLD, False),
    ]


def test_prune_spares_the_current_image_and_those_in_use(engine, scripted_engine):
    """Only what nobody needs is removed; what is in use is told apart."""
    used = "glovebox/sandbox:ba9876543210"
    images = [
        {"Id": f"sha256:{index}", "RepoTags": [name], "Created": index, "Size": 5}
        for index, name in enumerate([OLD, used, NAME])
    ]
    scripted_engine.say("GET /images/json", (200, images))
    scripted_engine.say(f"DELETE /images/{OLD}", (200, []))
    scripted_engine.say(f"DELETE /images/{used}", (409, {"message": "image is being used"}))

    assert prune_images(engine, NAME) == ([OLD], [used])
    assert f"DELETE /images/{NAME}" not in scripted_engine.asked


def test_prune_does_not_hide_a_failure(engine, scripted_engine):
    """Any refusal but "in use" ends the command."""
    images = [{"Id": "sha256:a", "RepoTags": [OLD], "Created": 1, "Size": 5}]
    scripted_engine.say("GET /images/json", (200, images))
    scripted_engine.say(f"DELETE /images/{OLD}", (500, {"message": "read-only file system"}))

    with pytest.raises(EngineError, match="read-only file system"):
        prune_images(engine, NAME)


def test_build_reports_each_step(steps):
    """A person sees which of how many steps is running."""
    said, progress = steps
    events = [
        {"stream": "Step 1/2 : FROM x\n"},
        {"stream": " ---> 12\n"},
        {"stream": "Step 2/2 : RUN y"},
    ]

    follow_build(events, name="i", progress=progress)

    assert said == ["step 1 of 2: FROM", "step 2 of 2: RUN"]


def test_failed_build_quotes_its_last_words(steps):
    """What the build printed before it failed is in the message, and no more than that."""
    _, progress = steps
    events = [{"stream": f"line {number}\n"} for number in range(40)]
    events.append({"error": "The command returned a non-zero code: 100"})

    with pytest.raises(EngineError, match="non-zero code: 100") as caught:
        follow_build(events, name="i", progress=progress)

    assert "line 39" in caught.value.message
    assert "line 20" not in caught.value.message


@pytest.mark.docker
def test_changed_content_is_built_under_its_own_name(real_engine, steps):
    """A build on the real engine gives an image that is current by content and by base."""
    _, progress = steps
    base = ensure_base(real_engine, progress)
    content = b"ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nCOPY ca/ /ca/\nRUN test -e /ca/unit.crt\n"
    files = [ContextFile("Dockerfile", content), ContextFile("ca/unit.crt", b"test")]
    try:
        image = build_image(real_engine, files, base=base, progress=progress)

        assert current_image(real_engine, files) == image
        assert image.digest == image_digest(real_engine, image.name)
    finally:
        real_engine.api.remove_image(image_name(files), force=True)


@pytest.mark.docker
def test_failed_step_on_the_engine_is_an_error(real_engine, steps):
    """A step that fails gives its own output, and no image."""
    _, progress = steps
    base = ensure_base(real_engine, progress)
    content = b"ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nRUN echo because of this; exit 3\n"
    files = [ContextFile("Dockerfile", content)]

    with pytest.raises(EngineError, match="because of this"):
        build_image(real_engine, files, base=base, progress=progress)

    assert current_image(real_engine, files) is None


@pytest.mark.docker
def test_present_image_is_not_built_again(real_engine, steps):
    """The second call finds what the first one left and has nothing to report."""
    said, progress = steps
    first = ensure_sandbox_image(real_engine, progress)
    said.clear()

    assert ensure_sandbox_image(real_engine, progress) == first
    assert said == []
