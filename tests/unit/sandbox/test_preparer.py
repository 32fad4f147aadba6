import secrets
import time

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.containers import (
    attach,
    create_container,
    find_containers,
    start_container,
)
from orchestrator.engine.images import image_digest
from orchestrator.engine.labels import owner_label
from orchestrator.sandbox.preparer import preparing
from orchestrator.sandbox.preparer_spec import PREPARER, PreparerSpec, preparer_options
from orchestrator.schema.ids import SessionId

pytestmark = pytest.mark.docker


@pytest.fixture
def spec(engine, sandbox_image):
    return PreparerSpec(
        session=SessionId(secrets.token_hex(6)),
        image=image_digest(engine, sandbox_image),
        owner=owner_label(),
        seccomp=(asset("sandbox-image") / "seccomp.json").read_text(),
        memory=512 * 1024**2,
    )


@pytest.fixture
def name(engine):
    name = f"glovebox/prepared:test-{secrets.token_hex(4)}"
    yield name
    if engine.api.images(name):
        engine.api.remove_image(name, force=True)


def play(engine, spec, scene):
    """Run a scene with a preparer; returns what it gave."""

    async def run():
        async with preparing(engine, spec) as preparer:
            return await scene(preparer)

    try:
        return anyio.run(run)
    finally:
        assert find_containers(engine, session=spec.session) == []


async def output(preparer, command, **environment):
    lines = []
    end = await preparer.step(command, environment=environment, on_line=lines.append, seconds=60)
    return end.exit_code, lines


def test_steps_are_taken_as_root_with_few_powers_and_no_network(engine, spec):
    """What a package's own script may do is what package managers need."""

    async def scene(preparer):
        return await output(
            preparer,
            "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status; ls /sys/class/net; echo $GIVEN",
            GIVEN="yes",
        )

    code, lines = play(engine, spec, scene)

    assert code == 0
    assert lines == ["0", "CapEff:\t00000000000000fb", "NoNewPrivs:\t1", "lo", "yes"]


def test_users_can_be_made_and_stepped_down_to(engine, spec):
    """As the scripts of packages do."""

    async def scene(preparer):
        return await output(preparer, "useradd --create-home worker && su worker -c 'id -un'")

    assert play(engine, spec, scene) == (0, ["worker"])


def test_an_image_is_what_the_steps_made_with_the_settings_it_had(engine, spec, name):
    """No variable of a step, no label of its container, nothing that lay in memory."""
    before = engine.api.inspect_image(spec.image)["Config"]

    async def scene(preparer):
        await output(preparer, "echo made > /srv/made; echo gone > /dev/shm/gone", SECRET="value")
        changed = await preparer.changed()
        digest = await preparer.commit(name, {"glovebox.kind": "built"})
        return changed, digest, await preparer.file("/srv/made"), await preparer.file("/none")

    changed, digest, made, nothing = play(engine, spec, scene)
    after = engine.api.inspect_image(name)

    assert (made, nothing) == (b"made\n", b"")
    assert "/srv/made" in changed
    assert not [path for path in changed if path.startswith("/dev/shm")]
    assert after["Id"] == digest
    assert after["Config"]["Env"] == before["Env"]
    labels = {key: value for key, value in after["Config"]["Labels"].items() if value}
    assert labels == {**(before["Labels"] or {}), "glovebox.kind": "built"}


def test_a_step_that_fails_gives_its_code_and_last_words(engine, spec):
    """Of a progress bar only the last state, of a long output only the end."""

    async def scene(preparer):
        seen = []
        end = await preparer.step(
            "seq 100; printf '1%%\\r50%%\\r\\n'; printf 'no newline'; exit 3",
            environment={},
            on_line=seen.append,
            seconds=60,
        )
        return end, seen

    end, seen = play(engine, spec, scene)

    assert end.exit_code == 3
    assert end.last_words.splitlines()[-2:] == ["50%", "no newline"]
    assert len(end.last_words.splitlines()) == 20
    assert len(seen) == 102


def test_a_step_that_takes_too_long_is_ended_with_its_container(engine, spec):
    """Nothing of it goes on."""

    async def scene(preparer):
        await preparer.step("sleep 600", environment={}, on_line=print, seconds=0.5)

    with pytest.raises(TimeoutError):
        play(engine, spec, scene)


def test_it_ends_by_itself_when_nobody_holds_it(engine, spec):
    """A killed harness leaves nothing that goes on."""
    container = create_container(engine, f"glovebox-{spec.session}-prepare", preparer_options(spec))
    held = attach(engine, container)
    start_container(engine, container)
    assert [found.kind for found in find_containers(engine, session=spec.session)] == [PREPARER]
    held.close()
    until = time.monotonic() + 20
    while find_containers(engine, session=spec.session) and time.monotonic() < until:
        time.sleep(0.1)

    assert find_containers(engine, session=spec.session) == []
