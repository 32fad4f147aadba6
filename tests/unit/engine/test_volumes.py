from __future__ import annotations

import io
import secrets
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.engine.base_image import BASE, ensure_base
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.labels import KIND as KIND_LABEL
from orchestrator.engine.labels import SESSION as SESSION_LABEL
from orchestrator.engine.volumes import (
    Layers,
    Owner,
    copier,
    create_overlay,
    create_volume,
    folders_of_volumes,
    frozen,
    remove_volume,
    require_volume,
    running_with,
)
from orchestrator.errors import EngineError
from orchestrator.schema.mount import Mount
from tests.support.hostile_tar import archive, member

pytestmark = pytest.mark.docker
SESSION = "0123456789ab"
OWNER = Owner(SESSION, Path("/nowhere"))


@pytest.fixture(scope="module")
def real() -> Iterator[Engine]:
    with closing(connect()) as found:
        ensure_base(found, lambda _: None)
        yield found


@pytest.fixture
def name(real: Engine) -> Iterator[str]:
    chosen = f"glovebox-test-{secrets.token_hex(6)}"
    yield chosen
    remove_volume(real, chosen)


@pytest.fixture
def running(real: Engine, name: str) -> Iterator[str]:
    create_volume(real, name, owner=OWNER)
    config = real.api.create_host_config(network_mode="none", binds={name: {"bind": "/v"}})
    made = real.api.create_container(BASE, ["sleep", "60"], host_config=config)
    real.api.start(made["Id"])
    yield made["Id"]
    real.api.remove_container(made["Id"], force=True)


def state(engine: Engine, container: str) -> str:
    return engine.api.inspect_container(container)["State"]["Status"]


def test_volume_is_labelled_and_kept_when_it_exists(real, name):
    """Labels tell whose it is."""
    create_volume(real, name, owner=OWNER)
    create_volume(real, name, owner=OWNER)

    labels = real.api.inspect_volume(name)["Labels"]
    assert labels.items() >= {SESSION_LABEL: SESSION, KIND_LABEL: "workspace"}.items()
    assert folders_of_volumes(real)[name] == OWNER.folder
    require_volume(real, name, session=SESSION)


@pytest.mark.parametrize("made_for", [None, "f" * 12])
def test_volume_that_is_missing_or_anothers_is_an_error(real, name, made_for):
    """It is never made by asking for it."""
    if made_for:
        create_volume(real, name, owner=Owner(made_for, Path("/nowhere")))

    with pytest.raises(EngineError, match="no longer has the files"):
        require_volume(real, name, session=SESSION)


def test_overlay_with_other_layers_is_an_error(real, name, tmp_path):
    """The engine would silently keep the old ones."""
    layers = Layers((str(tmp_path),), str(tmp_path), str(tmp_path))
    create_overlay(real, name, layers, owner=OWNER)
    create_overlay(real, name, layers, owner=OWNER)

    with pytest.raises(EngineError, match="got others"):
        create_overlay(real, name, Layers(("/",), "/u", "/w"), owner=OWNER)


def test_files_go_in_and_out_without_a_process(real, name):
    """Owners are those of the headers, for the mount's own top too; the container is gone after."""
    create_volume(real, name, owner=OWNER)
    data = archive((member("workspace/f", uid=1000, gid=1001, mode=0o640), b"hello"))
    mount = Mount("volume", name, "/workspace")

    with copier(real, BASE, mount, labels={SESSION_LABEL: SESSION}) as helper:
        helper.put("/", [data])
        assert state(real, helper.container) == "created"
        out = b"".join(helper.get("/workspace"))

    with tarfile.open(fileobj=io.BytesIO(out)) as tar:
        info = tar.getmember("workspace/f")
    assert (info.uid, info.gid, info.mode & 0o777) == (1000, 1001, 0o640)
    assert not real.api.containers(all=True, filters={"label": f"{SESSION_LABEL}={SESSION}"})


def test_copier_is_removed_when_its_use_fails(real, name):
    """Whatever the error is."""
    create_volume(real, name, owner=OWNER)
    mount = Mount("volume", name, "/workspace")

    with (
        pytest.raises(EngineError, match="copy files out"),
        copier(real, BASE, mount, labels={SESSION_LABEL: SESSION}) as helper,
    ):
        list(helper.get("/none"))

    assert not real.api.containers(all=True, filters={"label": f"{SESSION_LABEL}={SESSION}"})


def test_any_image_does_where_the_named_one_was_removed(real, name):
    """A session's files must not be lost with the image it ran from."""
    with copier(real, "glovebox/none:0", Mount("volume", name, "/w"), labels={}) as helper:
        helper.put("/w", [archive((member("kept"), b""))])
        assert b"kept" in b"".join(helper.get("/w"))


def test_engine_without_any_image_says_so(scripted_engine):
    """Nothing is pulled for copying."""
    missing = (404, {"message": "No such image: glovebox/none:0"})
    scripted_engine.say("POST /containers/create", missing)
    scripted_engine.say("GET /images/json", (200, []))

    with (
        closing(connect(scripted_engine.url)) as engine,
        pytest.raises(EngineError, match=r"create a container for copying.*No such image"),
        copier(engine, "glovebox/none:0", Mount("volume", "v", "/w"), labels={}),
    ):
        pass


def test_running_user_of_a_volume_is_found_and_frozen(real, name, running):
    """It is paused only while the block lasts."""
    assert len(running_with(real, name)) == 1

    with frozen(real, name):
        assert state(real, running) == "paused"
        assert len(running_with(real, name)) == 1
    assert state(real, running) == "running"


def test_box_that_ends_in_this_moment_is_not_paused(scripted_engine):
    """It holds still as it is; neither the pause nor the end of the block fails."""
    scripted_engine.say("GET /containers/json", (200, [{"Id": "abc"}, {"Id": "def"}]))
    scripted_engine.say("POST /containers/abc/pause", (409, {"message": "abc is not running"}))
    scripted_engine.say("POST /containers/def/pause", (204, None))
    scripted_engine.say("POST /containers/def/unpause", (204, None))

    with closing(connect(scripted_engine.url)) as engine, frozen(engine, "v"):
        pass

    assert "POST /containers/abc/unpause" not in scripted_engine.asked
    assert "POST /containers/def/unpause" in scripted_engine.asked


def test_pause_that_fails_is_told(scripted_engine):
    """What moves while it is read would be read wrongly."""
    scripted_engine.say("GET /containers/json", (200, [{"Id": "abc"}]))
    scripted_engine.say("POST /containers/abc/pause", (500, {"message": "no freezer"}))

    with (
        closing(connect(scripted_engine.url)) as engine,
        pytest.raises(EngineError, match=r"pause the box.*no freezer"),
        frozen(engine, "v"),
    ):
        pass


@pytest.mark.usefixtures("running")
def test_volume_in_use_is_an_error_in_the_end(real, name):
    """The hint says how to see who uses it."""
    with pytest.raises(EngineError, match="remove volume") as caught:
        remove_volume(real, name, patience_s=0.3)

    assert name in caught.value.hint
