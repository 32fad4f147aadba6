from collections.abc import Iterator
from contextlib import closing

import pytest

from orchestrator.engine.base_image import BASE, PUBLISHED, ensure_base, present_image
from orchestrator.engine.client import Engine, connect
from orchestrator.errors import EngineError

IMAGE = {"Id": "sha256:" + "2" * 64}
MISSING = (404, {"message": "No such image"})


@pytest.fixture
def engine(scripted_engine) -> Iterator[Engine]:
    with closing(connect(scripted_engine.url)) as connected:
        yield connected


def test_present_base_is_used(engine, scripted_engine, steps):
    """Where the base is there, no registry is asked and nothing is reported."""
    said, progress = steps
    scripted_engine.say(f"GET /images/{BASE}/json", (200, IMAGE))

    assert ensure_base(engine, progress) == IMAGE["Id"]
    assert said == []
    assert not any("distribution" in question for question in scripted_engine.asked)


def test_published_image_is_pulled_where_a_registry_answers(engine, scripted_engine, steps):
    """A registry that knows the image saves making one."""
    said, progress = steps
    scripted_engine.say(f"GET /images/{BASE}/json", MISSING, (200, IMAGE))
    scripted_engine.say(f"GET /images/{PUBLISHED}/json", MISSING, (200, IMAGE))
    scripted_engine.say(f"GET /distribution/{PUBLISHED}/json", (200, {}))
    scripted_engine.say("POST /images/create", (200, {"status": "Pulling"}))
    scripted_engine.say(f"POST /images/{PUBLISHED}/tag", (201, {}))

    assert ensure_base(engine, progress) == IMAGE["Id"]
    assert said == [f"pulling {PUBLISHED}"]


def test_published_image_at_hand_needs_no_registry(engine, scripted_engine, steps):
    """An image loaded by hand serves machines without any registry."""
    _, progress = steps
    scripted_engine.say(f"GET /images/{BASE}/json", MISSING, (200, IMAGE))
    scripted_engine.say(f"GET /images/{PUBLISHED}/json", (200, IMAGE))
    scripted_engine.say(f"POST /images/{PUBLISHED}/tag", (201, {}))

    assert ensure_base(engine, progress) == IMAGE["Id"]
    assert not any("distribution" in question for question in scripted_engine.asked)


def test_failed_pull_is_an_error(engine, scripted_engine, steps):
    """A pull that breaks off is told, not covered up by making another base."""
    _, progress = steps
    for name in (BASE, PUBLISHED):
        scripted_engine.say(f"GET /images/{name}/json", MISSING)
    scripted_engine.say(f"GET /distribution/{PUBLISHED}/json", (200, {}))
    scripted_engine.say("POST /images/create", (200, {"error": "toomanyrequests"}))

    with pytest.raises(EngineError, match="toomanyrequests"):
        ensure_base(engine, progress)


@pytest.mark.parametrize("answer", [(500, {"message": "no such host"}), (0, None)])
def test_base_is_not_made_for_another_architecture(engine, scripted_engine, steps, answer):
    """Without a registry the base is made here, so the engine must be of this machine's kind."""
    _, progress = steps
    for name in (BASE, PUBLISHED):
        scripted_engine.say(f"GET /images/{name}/json", MISSING)
    scripted_engine.say(f"GET /distribution/{PUBLISHED}/json", answer)
    scripted_engine.say("GET /info", (200, {"Architecture": "pdp11"}))

    with pytest.raises(EngineError, match="the engine is pdp11") as caught:
        ensure_base(engine, progress)

    assert f"docker pull {PUBLISHED}" in caught.value.hint


@pytest.mark.docker
def test_unknown_image_is_absent():
    """The real engine's "no such image" is an answer, not an error."""
    with closing(connect()) as real:
        assert present_image(real, "glovebox/no-such-image:0") is None


@pytest.mark.parametrize("name", ["../containers/x", "a/../../x", "-x", "", "a b", "a?x", "a#x"])
def test_what_is_no_name_never_reaches_the_engine(name):
    """It may come from a repository, and would become part of a request."""
    with pytest.raises(EngineError, match="expected an image's name"):
        present_image(None, name)
