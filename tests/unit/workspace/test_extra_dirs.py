"""Further directories of the host in the box."""

from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.extra_dirs import mount_directories, target_names
from tests.support.boxes import small_spec
from tests.support.workspaces import write


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "session"
    folder.mkdir()
    return folder


def test_names_are_their_own_and_told_apart(tmp_path):
    """Two directories called lib are lib and lib-2, also beside a real lib-2."""
    given = [tmp_path / "a/lib", tmp_path / "b/lib", tmp_path / "c/lib-2", tmp_path / "docs"]

    assert target_names(given) == ("/dirs/lib", "/dirs/lib-2", "/dirs/lib-2-2", "/dirs/docs")


def test_hidden_link_cannot_be_covered(tmp_path, folder):
    """A mount would land where the link points."""
    write(tmp_path / "lib", {"a.txt": "a"})
    (tmp_path / "lib/.env").symlink_to("a.txt")

    with pytest.raises(WorkspaceError, match=r"\.env"):
        mount_directories([tmp_path / "lib"], hidden=["**/.env"], folder=folder)


@pytest.mark.docker
def test_box_reads_but_neither_writes_nor_sees_what_is_hidden(stage, tmp_path, folder):
    """Read-only as a whole; hidden files are empty, hidden directories too."""
    lib = tmp_path / "lib"
    write(lib, {"a.txt": "visible", "sub/.env": "TOKEN=1", ".aws/credentials": "key"})
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)
    mounts = mount_directories([lib], hidden=["**/.env", "**/.aws/**"], folder=folder).mounts

    said = stage.play(
        lambda scene: scene.output(
            "cat /dirs/lib/a.txt; echo; cat /dirs/lib/sub/.env; cat /dirs/lib/.aws/credentials;"
            " echo x > /dirs/lib/new; rm /dirs/lib/a.txt; mv /dirs/lib/sub /dirs/lib/other; true"
        ),
        mounts=(*small_spec(stage.image).mounts, *mounts),
    )

    assert said.startswith("visible\n")
    assert "TOKEN" not in said
    assert "key" not in said
    assert said.count("Read-only file system") + said.count("busy") == 3
    assert (lib / "a.txt").read_text() == "visible"


def test_credentials_are_placeholders_there_too(tmp_path, folder):
    """Each file has a cover of its own, also those of two directories."""
    for name in ("a", "b"):
        write(tmp_path / name, {".npmrc": f"//{name}.example/:_authToken=S3cret\n"})

    mounts = mount_directories([tmp_path / "a", tmp_path / "b"], hidden=[], folder=folder).mounts

    shown = {m.target: Path(m.source).read_text() for m in mounts if m.target.endswith(".npmrc")}
    assert shown == {
        f"/dirs/{name}/.npmrc": f"//{name}.example/:_authToken=glovebox-masked-1\n"
        for name in ("a", "b")
    }
    assert all(mount.read_only for mount in mounts)
