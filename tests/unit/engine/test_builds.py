import io
import secrets

import pytest

from orchestrator.engine.builds import DOCKERFILE, BuildSpec, build, require_images
from orchestrator.engine.dockerfile import BuildPlan
from orchestrator.errors import EngineError, UsageError
from tests.support.images import archive_of, imported_image

pytestmark = pytest.mark.docker


@pytest.fixture
def made(engine, sandbox_image):
    """Build a Dockerfile upon the sandbox image, and remove what comes of it."""
    names = []

    def make(text, files=(), **options):
        name = f"glovebox-test/{secrets.token_hex(6)}:x"
        names.append(name)
        context = {DOCKERFILE: f"FROM {sandbox_image}\n{text}".encode(), **dict(files)}
        spec = BuildSpec(name, "./Dockerfile", BuildPlan((sandbox_image,), ()), **options)
        build(engine, spec, io.BytesIO(archive_of(context)), progress=lambda _line: None)
        return engine.api.inspect_image(name)

    yield make
    for name in names:
        engine.api.remove_image(name, force=True)


def test_build_has_no_network(made):
    """Not an address, not a name, nothing but the loopback device."""
    found = made('RUN test "$(ls /sys/class/net)" = lo && ! getent hosts debian.org && ls > /done')

    assert found["Config"]["Labels"]["glovebox.source"] == "./Dockerfile"


def test_arguments_and_target_are_used(made):
    """As the project's file says."""
    text = "AS one\nARG WHO\nENV WHO=$WHO\nFROM scratch\nENV WHO=nobody"
    found = made(f"#\nFROM glovebox/sandbox:latest {text}", args={"WHO": "me"}, target="one")

    assert "WHO=me" in found["Config"]["Env"]


def test_image_tells_what_it_stands_on(engine, made, sandbox_image):
    """By this it is pruned once that is gone."""
    labels = made("ENV A=1")["Config"]["Labels"]

    assert labels["glovebox.kind"] == "built"
    assert labels["glovebox.built-from"] == engine.api.inspect_image(sandbox_image)["Id"]


def test_failed_build_says_its_last_words(engine, sandbox_image):
    """And that there is no network, the likeliest reason."""
    text = f"FROM {sandbox_image}\nRUN echo trying && exit 3".encode()
    spec = BuildSpec("glovebox-test/failed:x", "./Dockerfile", BuildPlan((sandbox_image,), ()))

    with pytest.raises(EngineError, match="trying") as caught:
        build(engine, spec, io.BytesIO(archive_of({DOCKERFILE: text})), progress=lambda _line: None)

    assert "no network" in caught.value.hint


def test_missing_base_names_the_pull(engine):
    """The engine would fetch it with the host's network and the user's registry log-in."""
    with pytest.raises(EngineError, match="does not have it") as caught:
        require_images(engine, BuildPlan(("glovebox-test/none:x",), ()))

    assert caught.value.hint == "run `docker pull glovebox-test/none:x`"


def test_base_that_triggers_a_download_is_refused(engine):
    """Its ONBUILD would run as the build's own line."""
    with (
        imported_image(engine, {"x": b""}, changes=["ONBUILD ADD http://127.0.0.1/x /x"]) as base,
        pytest.raises(UsageError, match="a build downloads nothing"),
    ):
        require_images(engine, BuildPlan((base,), ()))
