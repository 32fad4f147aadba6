"""Bundles that a hostile box could send, against real git; no box is needed to write them."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.host_repository import open_repository
from orchestrator.workspace.quarantine import Quarantine, host_tips, open_quarantine
from tests.support.repositories import git, make_repository
from tests.support.workspaces import picture, write


@pytest.fixture
def host(tmp_path: Path) -> Path:
    root = tmp_path / "host"
    make_repository(root, owned=False)
    return root


@pytest.fixture
def box(host: Path) -> Path:
    """A clone with one more commit on main."""
    root = host.parent / "box"
    git(host.parent, "clone", "-q", str(host), str(root))
    write(root, {"app.py": "two\n"})
    git(root, "commit", "-qam", "Second")
    return root


def bundle(box: Path, *refs: str) -> Path:
    path = box.parent / "bundle"
    git(box, "bundle", "create", "-q", str(path), *refs)
    return path


def check(host: Path, path: Path) -> Quarantine:
    repository = open_repository(host)
    assert repository is not None
    return open_quarantine(host.parent / "quarantine.git", path, repository)


def test_honest_bundle_is_read_and_the_host_is_untouched(host: Path, box: Path) -> None:
    """Commits with their texts, files with their modes."""
    before = picture(host)

    found = check(host, bundle(box, "main", "^origin/main"))

    [tip] = [branch.tip for branch in found.header.branches]
    ids = found.commits(tip)
    [commit] = found.read_commits(ids)
    [file] = found.read_files(ids)
    assert ids == [tip]
    assert (commit.message.strip(), commit.author) == ("Second", "Person <person@host.example>")
    assert (file.path, file.mode, file.commit) == ("app.py", 0o100644, tip)
    assert picture(host) == before


def test_base_that_the_host_lacks_is_refused(host: Path, box: Path) -> None:
    """A history that hangs in the air could not be shown."""
    write(box, {"app.py": "three\n"})
    git(box, "commit", "-qam", "Third")

    with pytest.raises(WorkspaceError, match="does not have"):
        check(host, bundle(box, "main", "^main~1"))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data, head: data[:head] + b"PACKgarbage", "check of the objects failed"),
        (lambda data, head: data[: head + 40], "check of the objects failed"),
        (lambda data, head: data[:head] + b"", "check of the objects failed"),
        (lambda data, _: data[:-1] + bytes([data[-1] ^ 1]), "check of the objects failed"),
        (lambda data, _: data[:60].replace(b"git", b"got") + data[60:], "no git bundle"),
    ],
)
def test_damaged_bundle_is_refused(host: Path, box: Path, damage, why: str) -> None:
    """Garbage, a cut, nothing, a wrong sum."""
    path = bundle(box, "main", "^origin/main")
    data = path.read_bytes()
    path.write_bytes(damage(data, data.index(b"\n\nPACK") + 2))

    with pytest.raises(WorkspaceError, match=why):
        check(host, path)


def test_tip_that_is_not_in_the_pack_is_refused(host: Path, box: Path) -> None:
    """The head may promise what the pack does not hold."""
    path = bundle(box, "main", "^origin/main")
    tip = git(box, "rev-parse", "main").encode()
    path.write_bytes(path.read_bytes().replace(tip + b" refs", b"1" * 40 + b" refs", 1))

    with pytest.raises(WorkspaceError, match="gaps"):
        check(host, path)


def test_tip_that_is_no_commit_is_refused(host: Path, box: Path) -> None:
    """A branch of the host's own blob would make every later git command stumble."""
    path = bundle(box, "main", "^origin/main")
    tip, blob = git(box, "rev-parse", "main"), git(host, "rev-parse", "main:app.py")
    path.write_bytes(path.read_bytes().replace(f"{tip} refs".encode(), f"{blob} refs".encode(), 1))

    with pytest.raises(WorkspaceError, match="commit"):
        check(host, path)


def test_object_that_no_memory_holds_ends_git_and_not_the_host(host: Path, box: Path) -> None:
    """A tree that promises 64 GiB is not believed."""
    path = bundle(box, "main", "^origin/main")
    data = path.read_bytes()
    head = data[: data.index(b"\n\nPACK") + 2]
    path.write_bytes(head + bomb(64 * 1024**3))

    with pytest.raises(WorkspaceError, match="check of the objects failed"):
        check(host, path)


def bomb(size: int) -> bytes:
    """Return a pack of one tree whose header promises ``size`` bytes."""
    kind, first = 2, size & 15
    rest = size >> 4
    header = bytearray([(0x80 if rest else 0) | kind << 4 | first])
    while rest:
        header.append((0x80 if rest > 127 else 0) | rest & 127)
        rest >>= 7
    pack = b"PACK" + struct.pack(">II", 2, 1) + bytes(header) + zlib.compress(b"\0" * 1_000_000)
    return pack + hashlib.sha1(pack).digest()


def test_other_object_format_is_refused(host: Path, tmp_path: Path) -> None:
    """Names of another kind mean nothing here."""
    other = tmp_path / "other"
    make_repository(other, form="sha256", owned=False)

    with pytest.raises(WorkspaceError, match="sha256"):
        check(host, bundle(other, "main"))


def test_settings_of_the_host_s_repository_do_not_count(host: Path, box: Path) -> None:
    """The quarantine borrows objects alone: no filter, no replacement, no signature program."""
    for name, value in {
        "log.showSignature": "true",
        "gpg.program": "/bin/false",
        "core.quotePath": "true",
        "diff.external": "/bin/false",
    }.items():
        git(host, "config", name, value)
    write(box, {"ü": "x"})
    git(box, "add", ".")
    git(box, "commit", "-qm", "Name")

    found = check(host, bundle(box, "main", "^origin/main"))
    [tip] = [branch.tip for branch in found.header.branches]

    assert "ü" in {file.path for file in found.read_files(found.commits(tip))}


def test_tips_are_branches_remotes_and_head(host: Path) -> None:
    """Each once; a repository without a commit has none."""
    git(host, "branch", "same")
    empty = host.parent / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    found, nothing = open_repository(host), open_repository(empty)
    assert found is not None
    assert nothing is not None

    assert host_tips(found) == [git(host, "rev-parse", "HEAD")]
    assert host_tips(nothing) == []
