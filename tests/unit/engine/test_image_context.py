import io
import tarfile
from pathlib import Path

import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.image_context import (
    image_name,
    pack_context,
    read_context,
    sandbox_image_name,
)
from orchestrator.errors import EngineError

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sandbox-image"
    (folder / "toolserver").mkdir(parents=True)
    (folder / "ca").mkdir()
    (folder / "Dockerfile").write_text("FROM scratch\n")
    (folder / "runtime.py").write_text("pass\n")
    (folder / "prepare-root.sh").write_text("#!/bin/sh\n")
    (folder / "setup-engine.sh").write_text("#!/bin/sh\n")
    (folder / "toolserver" / "__main__.py").write_text("pass\n")
    return folder


@pytest.fixture
def authorities(tmp_path: Path) -> Path:
    folder = tmp_path / "authorities"
    (folder / "corp").mkdir(parents=True)
    (folder / "corp" / "root.crt").write_text(CERTIFICATE)
    return folder


def names(folder: Path, certificates: Path) -> list[str]:
    return [file.name for file in read_context(folder, certificates=certificates)]


def test_context_holds_what_the_dockerfile_copies(sources, authorities):
    """Only what can be copied is sent: host scripts stay out, the host's authorities come in."""
    assert names(sources, authorities) == [
        "Dockerfile",
        "ca/host-corp-root.crt",
        "prepare-root.sh",
        "runtime.py",
        "toolserver/__main__.py",
    ]


def test_host_without_extra_authorities_adds_none(sources, tmp_path):
    """A missing folder of authorities is no error."""
    assert not any(name.startswith("ca/") for name in names(sources, tmp_path / "none"))


def test_name_follows_content(sources, authorities):
    """Any change of what goes in changes the name, and going back restores it."""
    before = sandbox_image_name(sources, certificates=authorities)
    (sources / "toolserver" / "__main__.py").write_text("raise SystemExit\n")
    changed = sandbox_image_name(sources, certificates=authorities)
    (sources / "toolserver" / "__main__.py").write_text("pass\n")

    assert changed != before
    assert sandbox_image_name(sources, certificates=authorities) == before


@pytest.mark.parametrize("leftover", ["setup-engine.sh", "toolserver/__pycache__/x.pyc"])
def test_name_ignores_what_stays_out(sources, authorities, leftover):
    """Host scripts and compiled leftovers do not make an image old."""
    before = sandbox_image_name(sources, certificates=authorities)
    path = sources / leftover
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed\n")

    assert sandbox_image_name(sources, certificates=authorities) == before


def test_name_sees_a_new_authority(sources, authorities):
    """A box built before an authority was added is old."""
    before = sandbox_image_name(sources, certificates=authorities)
    (authorities / "second.crt").write_text(CERTIFICATE)

    assert sandbox_image_name(sources, certificates=authorities) != before


def test_name_sees_an_executable_bit(sources, authorities):
    """A script that became executable is another content."""
    before = sandbox_image_name(sources, certificates=authorities)
    (sources / "prepare-root.sh").chmod(0o755)

    assert sandbox_image_name(sources, certificates=authorities) != before


def test_name_sees_a_moved_boundary(sources, authorities):
    """Bytes that move from one file to the next are another content."""
    first, second = sources / "toolserver" / "a", sources / "toolserver" / "b"
    first.write_text("xy")
    second.write_text("z")
    before = sandbox_image_name(sources, certificates=authorities)
    first.write_text("x")
    second.write_text("yz")

    assert sandbox_image_name(sources, certificates=authorities) != before


def test_private_key_among_authorities_is_refused(sources, authorities):
    """Nothing secret goes into an image, even when an administrator left it beside."""
    (authorities / "both.crt").write_text(CERTIFICATE + "-----BEGIN PRIVATE KEY-----\n")

    with pytest.raises(EngineError, match=r"both\.crt holds a private key"):
        read_context(sources, certificates=authorities)


def test_missing_source_is_named(sources, authorities):
    """An incomplete checkout says which file lacks."""
    (sources / "prepare-root.sh").unlink()

    with pytest.raises(EngineError, match=r"prepare-root\.sh: No such file"):
        read_context(sources, certificates=authorities)


def test_packed_context_depends_on_content_alone(sources, authorities):
    """Times, owners and ambient permissions do not reach the archive."""
    first = pack_context(read_context(sources, certificates=authorities))
    for path in sources.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.touch()

    assert pack_context(read_context(sources, certificates=authorities)) == first


def test_packed_context_keeps_folders_that_are_copied(sources, tmp_path):
    """The folder of authorities is there even when it is empty, for COPY fails otherwise."""
    data = pack_context(read_context(sources, certificates=tmp_path / "none"))

    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = {member.name: member for member in archive}
    assert members["ca"].isdir()
    assert members["toolserver/__main__.py"].mode == 0o644
    assert {member.uid for member in members.values()} == {0}


def test_shipped_sources_have_a_name():
    """The real image's name can be told without an engine."""
    files = read_context(asset("sandbox-image"))

    assert image_name(files).startswith("glovebox/sandbox:")
    assert "toolserver/__main__.py" in {file.name for file in files}
