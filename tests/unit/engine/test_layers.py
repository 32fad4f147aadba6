import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.engine.labels import owner_label
from orchestrator.engine.layers import Recipe, ensure_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest
from tests.support.boxes import Stage
from tests.support.images import gloved, imported_image, leftovers

USER = BoxUser(1000, 1000, "agent", "/home/agent", "/opt/glovebox/bash")
RECIPE = Recipe("some:image", Digest("sha256:runtime"), USER, "/workspace")
DIGEST = Digest("sha256:base")


@pytest.mark.parametrize(
    "other",
    [
        replace(RECIPE, runtime=Digest("sha256:other")),
        replace(RECIPE, workdir="/w"),
        replace(RECIPE, user=replace(USER, uid=1001)),
        replace(RECIPE, user=replace(USER, gid=1001)),
    ],
)
def test_name_follows_what_the_layer_is_made_of(other):
    """Another runtime, user or place is another layer; another name of the same image is not."""
    assert RECIPE.layer_name(DIGEST) != other.layer_name(DIGEST)
    assert RECIPE.layer_name(DIGEST) != RECIPE.layer_name(Digest("sha256:x"))
    assert RECIPE.layer_name(DIGEST) == replace(RECIPE, of="same:image").layer_name(DIGEST)


@pytest.fixture
def shipped(engine, sandbox_image) -> Digest:
    return Digest(engine.api.inspect_image(sandbox_image)["Id"])


@pytest.mark.docker
def test_image_with_nothing_in_it_becomes_a_box(engine, sandbox_image, runtime_directory):
    """No shell, no library, no Python, no directory: the glove brings what it needs."""
    with (
        imported_image(engine, {"only": b""}) as image,
        gloved(engine, image, runtime=sandbox_image, ids=(1234, 77)) as layer,
    ):
        stage = Stage(engine, layer, runtime_directory)
        found = stage.output('echo "$(</etc/passwd)"; echo /*; echo $UID', uid=1234, gid=77)

    assert found.splitlines() == [
        "root:x:0:0:root:/root:/bin/sh",
        "agent:x:1234:77:agent:/home/agent:/opt/glovebox/bash",
        "/dev /etc /glove /home /only /opt /proc /sbin /sys /tmp /workspace",
        "1234",
    ]


@pytest.mark.docker
def test_second_start_makes_nothing(engine, sandbox_image, shipped):
    """The layer is found by its name."""
    said = []
    with (
        imported_image(engine, {"only": b""}) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        again = ensure_layer(engine, replace(RECIPE, of=image, runtime=shipped), said.append)

    assert (again.name, again.of, said) == (layer, image, [])
    assert leftovers(engine, owner_label()) == []


@pytest.mark.docker
def test_layer_bears_what_it_was_made_of_and_no_owner(engine, sandbox_image, shipped):
    """What starts from it must not look like a dead process's."""
    with (
        imported_image(engine, {"only": b""}, changes=["LABEL glovebox.owner=x"]) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        labels = engine.api.inspect_image(layer)["Config"]["Labels"]

    assert labels["glovebox.of"] == image
    assert labels["glovebox.kind"] == "layer"
    assert labels["glovebox.runtime"] == shipped
    assert not labels["glovebox.owner"]
    assert not labels["glovebox.session"]


@pytest.mark.docker
def test_shipped_image_serves_its_own_user_as_it_is(engine, sandbox_image, shipped):
    """No layer where there is nothing to add."""
    made = ensure_layer(engine, replace(RECIPE, of=sandbox_image, runtime=shipped), print)

    assert (made.name, made.digest) == (sandbox_image, shipped)


@pytest.mark.docker
def test_shipped_image_knows_any_user_by_name(engine, sandbox_image, runtime_directory):
    """Programs that ask who they are get an answer, whoever the caller is."""
    command = "whoami; node -p 'os.userInfo().homedir'; python3 -c 'import getpass, pwd; print(pwd.getpwuid(4242).pw_name)'"
    with gloved(engine, sandbox_image, runtime=sandbox_image, ids=(4242, 4243)) as layer:
        found = Stage(engine, layer, runtime_directory).output(command, uid=4242, gid=4243)

    assert found.split() == ["agent", "/home/agent", "agent"]


@pytest.mark.docker
def test_missing_image_is_named(engine, shipped):
    """Whoever asked for it knows which one."""
    with pytest.raises(EngineError, match="glovebox-test/none:x: the engine does not have it"):
        ensure_layer(engine, replace(RECIPE, of="glovebox-test/none:x", runtime=shipped), print)


MUSL = Path("/lib/ld-musl-x86_64.so.1")
GREETING = r"""
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%s of musl\n", getpwuid(getuid())->pw_name); return 0; }
"""


@pytest.mark.docker
@pytest.mark.skipif(
    not (MUSL.exists() and shutil.which("musl-gcc")),
    reason="needs Debian's musl-tools on this machine",
)
def test_image_of_another_c_library_becomes_a_box(
    engine, sandbox_image, runtime_directory, tmp_path
):
    """Its programs keep their own loader and library; the glove has its own."""
    (tmp_path / "greet.c").write_text(GREETING)
    build = ["musl-gcc", "-o", tmp_path / "greet", tmp_path / "greet.c"]
    subprocess.run(build, check=True)
    program = (tmp_path / "greet").read_bytes()
    assert b"ld-musl" in program
    entries = {
        "bin": None,
        "bin/greet": program,
        "lib": None,
        "lib/ld-musl-x86_64.so.1": MUSL.read_bytes(),
    }
    with (
        imported_image(engine, entries) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        found = Stage(engine, layer, runtime_directory).output("greet; echo /lib/*")

    assert found == "agent of musl\n/lib/ld-musl-x86_64.so.1\n"
