"""The head of a bundle is taken only in the form that git writes it in."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bundle_header import MOST_BRANCHES, name_refusal, read_header

TIP = "a" * 40
HEAD = b"# v2 git bundle\n"


def read(*lines: str, head: bytes = HEAD, rest: bytes = b"\nPACK"):
    return read_header(io.BytesIO(head + "".join(f"{line}\n" for line in lines).encode() + rest))


def test_head_of_git_is_read() -> None:
    """Branches, what they need, and where the pack begins."""
    found = read(f"-{'b' * 40} First", f"{TIP} refs/heads/topic/äö-1", f"{TIP} HEAD")

    assert [branch.name for branch in found.branches] == ["topic/äö-1", "detached-head"]
    assert found.needs == ("b" * 40,)
    assert found.form == "sha1"
    assert found.length == len(HEAD) + 48 + 63 + 2 + 46 + 1


def test_third_version_names_its_object_format() -> None:
    """Only that capability is taken: a filter would leave objects out."""
    head = b"# v3 git bundle\n@object-format=sha256\n"

    assert read(f"{'c' * 64} refs/heads/main", head=head).form == "sha256"
    with pytest.raises(WorkspaceError, match="asks for"):
        read(f"{TIP} refs/heads/main", head=b"# v3 git bundle\n@filter=blob:none\n")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((f"{TIP} refs/tags/v1",), "is no branch"),
        ((f"{TIP[:-1]} refs/heads/main",), "no object"),
        (("g" * 40 + " refs/heads/main",), "no object"),
        ((f"{TIP} refs/heads/main", f"{TIP} refs/heads/main"), "twice"),
        ((), "no branch"),
        (tuple(f"{TIP} refs/heads/b{n}" for n in range(MOST_BRANCHES + 1)), "more than"),
    ],
)
def test_odd_head_is_refused(lines: tuple[str, ...], why: str) -> None:
    """Nothing but branches of whole ids comes near git, and not too many."""
    with pytest.raises(WorkspaceError, match=why):
        read(*lines)


@pytest.mark.parametrize(
    "name",
    ["../../config", "-force", "a..b", "a.lock", "a\x1b[2Jb", "a\u202eb", "a b", "x" * 300, ""],
)
def test_odd_name_is_refused_and_the_others_are_read(name: str) -> None:
    """Names that reach elsewhere, or cannot be shown as they are, never come near git."""
    found = read(f"{TIP} refs/heads/{name}", f"{TIP} refs/heads/main")

    assert [branch.name for branch in found.branches] == ["main"]
    (refused,) = found.refused
    assert refused.name == name[:200]
    assert "name" in refused.reason
    assert read(f"{TIP} refs/heads/{name}").branches == ()


def test_cut_head_is_refused() -> None:
    """An end inside a line, or before the empty one, is no end."""
    with pytest.raises(WorkspaceError, match="cut"):
        read(f"{TIP} refs/heads/main", rest=b"")
    with pytest.raises(WorkspaceError, match="no git bundle"):
        read_header(io.BytesIO(b""))


@given(st.text(max_size=40))
def test_accepted_name_is_one_that_git_accepts(name: str) -> None:
    """Whatever passes holds nothing that git's own rules forbid."""
    if name_refusal(name) == "":
        assert not set(name) & set(" ~^:?*[\\\x7f")
        assert ".." not in name
        assert "@{" not in name
        assert not name.startswith(("/", "-", "."))
        assert not name.endswith(("/", ".", ".lock"))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No other error ever comes out."""
    try:
        read_header(io.BytesIO(HEAD + data))
    except WorkspaceError:
        return
