import io
import os
import tarfile

import pytest

from orchestrator.engine.builds import DOCKERFILE
from orchestrator.errors import UsageError
from orchestrator.workspace import build_context
from orchestrator.workspace.build_context import ContextSpec, pack_build, pack_text, read_text


@pytest.fixture
def project(tmp_path):
    for name in (
        "src/a.py",
        "src/deep/b.py",
        ".env",
        ".git/config",
        "x.md",
        "keep/this",
        "keep/not",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "run.sh").write_text("x")
    (tmp_path / "run.sh").chmod(0o755)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def pack(project, sources=None, hidden=("**/.env",), folder="."):
    into = io.BytesIO()
    pack_build(ContextSpec(project, folder, "FROM x\n", sources, hidden), into)
    return into


def members(packed):
    with tarfile.open(fileobj=packed) as archive:
        return {entry.name: entry for entry in archive}


def test_context_is_the_project_without_git_and_hidden_paths(project):
    """What no box may see, no build sees; a link goes in as a link, a pipe not at all."""
    found = members(pack(project))

    assert set(found) == {
        "keep", "keep/not", "keep/this", "link", "run.sh", "src", "src/a.py", "src/deep",
        "src/deep/b.py", "x.md", DOCKERFILE,
    }  # fmt: skip
    assert found["link"].issym()
    assert found["run.sh"].mode == 0o755
    assert found["x.md"].mode == 0o644


def test_ignore_file_is_honoured(project):
    """With its exceptions, and the directories that lead to them."""
    (project / ".dockerignore").write_text("keep\n!keep/this\n*.md\n")

    found = members(pack(project))

    assert {"keep", "keep/this"} <= set(found)
    assert not {"keep/not", "x.md"} & set(found)


def test_no_exception_brings_a_hidden_path_back(project):
    """The ignore file is the project's own."""
    (project / ".dockerignore").write_text("!.env\n!.git\n!**/.env")

    assert not {".env", ".git", ".git/config"} & set(members(pack(project)))


def test_only_what_is_copied_goes_in(project):
    """Named paths, and the directories above them."""
    assert set(members(pack(project, sources=("src/deep",)))) == {
        "src", "src/deep", "src/deep/b.py", DOCKERFILE,
    }  # fmt: skip
    assert set(members(pack(project, sources=()))) == {DOCKERFILE}


def test_bytes_depend_on_content_alone(project):
    """Times and owners are no part of what is consented to."""
    before = pack(project).getvalue()
    os.utime(project / "x.md", (1, 1))

    assert pack(project).getvalue() == before
    (project / "x.md").write_text("changed")
    assert pack(project).getvalue() != before


def test_dockerfile_is_the_text_that_was_shown(project):
    """A file of that name in the project does not take its place."""
    (project / DOCKERFILE).write_text("FROM evil\n")

    packed = pack(project)
    with tarfile.open(fileobj=packed) as archive:
        names = archive.getnames()
        text = archive.extractfile(DOCKERFILE).read()

    assert (names.count(DOCKERFILE), text) == (1, b"FROM x\n")


def test_context_that_grows_too_large_is_refused(project):
    """The hint names the file that helps."""
    with (project / "big").open("wb") as file:
        file.truncate(build_context.MAX_BYTES + 1)

    with pytest.raises(UsageError, match="more than 512 MiB") as caught:
        pack(project)
    assert ".dockerignore" in caught.value.hint


def test_text_of_a_project_is_read_without_following_links(project):
    """A link, what is no text and what is too long are errors."""
    (project / "Dockerfile").symlink_to("/etc/hostname")
    (project / "binary").write_bytes(b"\xff\xfe\x00")
    (project / "long").write_text("x" * (1024**2 + 1))

    with pytest.raises(UsageError, match="cannot be read"):
        read_text(project, "Dockerfile")
    assert read_text(project, "nothing") is None
    assert read_text(project, "x.md") == "x.md"
    with pytest.raises(UsageError, match="expected UTF-8"):
        read_text(project, "binary")
    with pytest.raises(UsageError, match="at most"):
        read_text(project, "long")


def test_context_of_a_text_holds_it_alone():
    """For steps that are not the project's."""
    with pack_text("FROM a\n") as packed:
        assert set(members(packed)) == {DOCKERFILE}


def test_context_is_reached_without_following_links(project, tmp_path_factory):
    """Not in the last part and not on the way: it would be a directory of the host."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "inner").mkdir()
    (outside / "inner" / "secret").write_text("x")
    (project / "away").symlink_to(outside)

    assert set(members(pack(project, folder="src"))) == {
        "a.py", "deep", "deep/b.py", DOCKERFILE,
    }  # fmt: skip
    for folder in ("away", "away/inner", "none"):
        with pytest.raises(UsageError, match="without a link"):
            pack(project, folder=folder)


def test_hidden_paths_start_at_the_project(project):
    """Whatever directory of it the context is; one within .git holds nothing."""
    (project / ".dockerignore").write_text("*")

    found = members(pack(project, folder="src", hidden=("src/deep/**",)))

    assert "a.py" in found
    assert "deep/b.py" not in found
    assert set(members(pack(project, folder=".git"))) == {DOCKERFILE}
