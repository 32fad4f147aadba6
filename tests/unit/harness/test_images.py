from dataclasses import replace

import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.layers import BoxImage
from orchestrator.errors import ConfigError
from orchestrator.harness.images import box_image, prepare_dockerfile, prepared_image, with_source
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import Digest
from orchestrator.schema.posture import Posture
from tests.support.boxes import Stage
from tests.support.images import drop_image, imported_image


@pytest.fixture
def sandbox(tmp_path):
    policy = load_policy(("default",), search=asset("policies"), user_file=tmp_path / "none.yaml")
    return policy.sandbox


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
def test_any_image_gets_its_layer(engine, sandbox):
    """The first use makes it and says so; what it was made of stays told apart."""
    said = []
    with imported_image(engine, {"only": b""}) as named:
        made = box_image(engine, named, sandbox=sandbox, ids=(1000, 1000), note=said.append)
        try:
            again = box_image(engine, named, sandbox=sandbox, ids=(1000, 1000), note=said.append)
        finally:
            engine.api.remove_image(made.name, force=True)

    assert made == again
    assert (made.of, made.name.partition(":")[0]) == (named, "glovebox/layer")
    assert len(said) == 1


@pytest.mark.docker
def test_steps_of_the_policy_are_taken_once(engine, sandbox, sandbox_image, runtime_directory):
    """As root, on the named image, whatever characters they hold; the second start finds them."""
    commands = ("id -u > /made-by", 'printf "%s" "a\\"b\n\\$c" > /odd; ls /sys/class/net > /net')
    steps = replace(sandbox, prepare_commands=commands)
    said = []
    made = box_image(engine, sandbox_image, sandbox=steps, ids=(1000, 1000), note=said.append)
    prepared = prepared_image(engine, sandbox_image, sandbox=steps, note=said.append)
    try:
        stage = Stage(engine, made.name, runtime_directory)
        found = stage.output("cat /made-by /net /odd")
    finally:
        drop_image(engine, prepared)

    assert found == '0\nlo\na"b\n$c'
    assert made.of == sandbox_image
    assert len([line for line in said if "building" in line]) == 1


def test_command_is_no_dockerfile_syntax():
    """A line break in one starts no new instruction."""
    text = prepare_dockerfile(Digest("sha256:1"), ("a\nFROM evil", "b \\"))

    assert [line.split()[0] for line in text.splitlines()] == ["FROM", "USER", "RUN", "RUN"]


def test_packages_are_refused_and_say_why(sandbox):
    """They need a network, and a build has none yet."""
    steps = replace(sandbox, prepare_packages=("cowsay",))

    with pytest.raises(ConfigError, match=r"cowsay: packages need a network.* no network yet"):
        prepared_image(None, "debian:12", sandbox=steps, note=print)
