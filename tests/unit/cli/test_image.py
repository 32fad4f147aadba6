import json
import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.image_context import sandbox_image_name
from tests.support import warm
from tests.support.images import gloved, imported_image


def glovebox(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process, as a person does."""
    return warm.run(arguments, env={**os.environ, **environ}, cwd=Path.cwd())


@pytest.mark.parametrize("command", ["build", "list", "prune"])
def test_missing_engine_ends_each_command_with_its_code(command, tmp_path):
    """Without an engine the exit code is 5, stdout stays empty and stderr names the engine."""
    result = glovebox("image", command, DOCKER_HOST=f"unix://{tmp_path}/none.sock")

    assert (result.returncode, result.stdout) == (5, "")
    assert f"no container engine answers at unix://{tmp_path}/none.sock" in result.stderr
    assert "setup-engine.sh" in result.stderr


@pytest.mark.docker
def test_built_image_is_printed_and_listed_as_current():
    """What build prints is what list marks."""
    built = glovebox("image", "build", "--json")
    listed = glovebox("image", "list", "--json")

    name = json.loads(built.stdout)["name"]
    current = [image for image in json.loads(listed.stdout) if image["current"]]
    assert name == sandbox_image_name(asset("sandbox-image"))
    assert [image["name"] for image in current] == [name]
    assert json.loads(built.stdout)["digest"] == current[0]["digest"]


@pytest.mark.docker
def test_list_for_people_stars_the_current_image():
    """A person sees at once which image is used, and how big each is."""
    name = json.loads(glovebox("image", "build", "--json").stdout)["name"]
    lines = glovebox("image", "list").stdout.splitlines()

    starred = [line for line in lines if line.startswith("* ")]
    assert len(starred) == 1
    assert name in starred[0]
    assert starred[0].endswith(" MB")


@pytest.mark.docker
def test_list_tells_what_was_made_of_images(engine, sandbox_image):
    """A layer with its image, whether a box stands on it, and when it was used last."""
    with (
        imported_image(engine, {"only": b""}) as named,
        gloved(engine, named, runtime=sandbox_image) as layer,
    ):
        lines = glovebox("image", "list").stdout.splitlines()
        rows = json.loads(glovebox("image", "list", "--json").stdout)

    [line] = [line for line in lines if layer in line]
    [row] = [row for row in rows if row["name"] == layer]
    assert f"layer of {named}" in line
    assert (row["kind"], row["of"], row["in_use"], row["lost"]) == ("layer", named, False, "")
    assert row["last_used"] is None
