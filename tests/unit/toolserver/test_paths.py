from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import MAX_LINKS, Roots, _straight, _walked, land, landing, placed
from refusal import Refusal

from tests.support.boxed_files import BoxedFiles, names_in


def resolve(box: BoxedFiles, asked: str) -> str:
    return landing(asked, box.roots)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories, files, links to each, and one that has no end."""
    real = tmp_path_factory.mktemp("tree").resolve()
    for folder in (real, real / "a", real / "a" / "b", real / ".hidden"):
        folder.mkdir(exist_ok=True)
        (folder / "f").write_text("x")
        (folder / "in").symlink_to(real / "a" / "b")
        (folder / "out").symlink_to("f")
        (folder / "loop").symlink_to("loop")
    return real


def test_link_lands_at_its_target(box: BoxedFiles) -> None:
    """A path is judged by where it lands."""
    box.put("real/a.txt", "x")
    (box.workdir / "link").symlink_to("real")

    assert resolve(box, "link/a.txt") == f"{box.workdir}/real/a.txt"


def test_missing_tail_lands_below_the_nearest_directory(box: BoxedFiles) -> None:
    """The last parts need not exist, and links before them are followed."""
    (box.workdir / "out").symlink_to(box.outside)

    assert resolve(box, "out/new/x.txt") == f"{box.outside}/new/x.txt"


def test_dangling_link_lands_at_its_target(box: BoxedFiles) -> None:
    """What a write would create is what counts."""
    (box.workdir / "new.txt").symlink_to(box.outside / "deep" / "new.txt")

    assert resolve(box, "new.txt") == f"{box.outside}/deep/new.txt"


def test_dots_are_taken_after_links(box: BoxedFiles) -> None:
    """``link/..`` is the parent of the target, as the kernel sees it."""
    (box.workdir / "link").symlink_to(box.outside)

    assert resolve(box, "link/../x") == f"{box.outside.parent}/x"


def test_endless_links_come_back_as_asked_and_are_refused(box: BoxedFiles) -> None:
    """A loop has no landing; the operation says so."""
    (box.workdir / "loop").symlink_to("loop")

    assert resolve(box, "loop/x") == f"{box.workdir}/loop/x"
    assert box.refusal("read", "loop/x") == (
        "not_found",
        f"{box.workdir}/loop/x: more than {MAX_LINKS} links",
    )


def test_dots_above_a_missing_directory_are_refused(box: BoxedFiles) -> None:
    """``missing/../a`` exists for no program."""
    box.put("a.txt", "x")

    assert box.refusal("read", "missing/../a.txt")[0] == "not_found"


def test_file_used_as_a_directory_is_refused(box: BoxedFiles) -> None:
    """No path goes through a file."""
    box.put("a.txt", "x")

    for asked in ("a.txt/b", "a.txt/../a.txt", "a.txt/"):
        assert box.refusal("read", asked)[0] == "not_found", asked


def test_path_that_lands_elsewhere_than_judged_is_refused(box: BoxedFiles) -> None:
    """The host's judgement holds for one landing."""
    box.put("a.txt", "x")
    box.put("b.txt", "x")
    (box.workdir / "link").symlink_to("b.txt")

    code, message = box.refusal("read", "link", resolved=f"{box.workdir}/a.txt")

    assert code == "moved"
    assert f"{box.workdir}/b.txt" in message


def test_path_that_lands_where_judged_passes(box: BoxedFiles) -> None:
    """``resolved`` is compared as text in the shown form."""
    box.put("a\nb.txt", "x")

    assert box.data("read", r"a\nb.txt", resolved=rf"{box.workdir}/a\nb.txt")["text"] == "x"


def test_sibling_with_the_same_prefix_is_outside(box: BoxedFiles) -> None:
    """Containment is by component."""
    sibling = Path(f"{box.workdir}b")
    sibling.mkdir()
    (sibling / "s.txt").write_text("secret")

    assert box.refusal("read", sibling / "s.txt")[0] == "outside"


def test_read_root_is_readable_and_not_writable(box: BoxedFiles) -> None:
    """Policy's read roots open reading alone."""
    (box.library / "lib.txt").write_text("lib")

    assert box.data("read", box.library / "lib.txt")["text"] == "lib"
    assert box.refusal("write", box.library / "lib.txt", content="x")[0] == "outside"
    assert (box.library / "lib.txt").read_text() == "lib"


@pytest.mark.parametrize("path", ["/proc/self/environ", "/sys/kernel/notes", "/dev/null"])
def test_kernel_interfaces_are_never_readable(path: str) -> None:
    """Even a read root that holds everything opens none of them."""
    roots = Roots("/", ("/",), ("/",))

    with pytest.raises(Refusal) as refused, placed({"path": path}, roots, "read"):
        pass

    assert refused.value.code == "outside"


def test_roots_of_a_configuration_add_scratch_and_spill() -> None:
    """The box's own scratch is writable, the spill directory readable."""
    config = SimpleNamespace(workdir="/w", read_roots=("/usr/include",), spill_dir="/spill")

    roots = Roots.of(config)

    assert roots.writable == ("/w", "/tmp", "/home/agent")
    assert roots.readable == ("/w", "/tmp", "/home/agent", "/spill", "/usr/include")


def test_handles_are_closed_after_the_walk(box: BoxedFiles) -> None:
    """A server that walks all day leaks nothing, refused walks included."""
    box.put("a/b/c.txt", "x")
    (box.workdir / "loop").symlink_to("loop")
    before = len(names_in(Path("/proc/self/fd")))

    for asked in ("a/b/c.txt", "loop", "a/x/y", "/", "a/b/c.txt/d"):
        resolve(box, asked)

    assert len(names_in(Path("/proc/self/fd"))) == before


def test_root_directory_lands_at_itself() -> None:
    """The walk's start is a place, too."""
    with land(b"/..//.") as place:
        assert place.path == b"/"
        assert place.is_folder


PARTS = st.sampled_from(["a", "b", "f", "new", "in", "out", "loop", ".", "..", "", ".hidden"])


@given(parts=st.lists(PARTS, min_size=1, max_size=5))
@settings(deadline=None, max_examples=300)
def test_short_way_and_walk_land_alike(tree: Path, parts: list[str]) -> None:
    """What is opened at once is where the walk goes step by step; only links and dots are walked."""
    path = f"{tree}/{'/'.join(parts)}".encode()
    handles: list[int] = []
    try:
        short = _straight(path, handles, quick=False)
        if short is None:
            return
        walked = _walked(path, handles, quick=False)

        assert (short.path, short.rest, short.status) == (
            walked.path, walked.rest, walked.status,
        )  # fmt: skip
        assert os.path.samestat(os.fstat(short.parent), os.fstat(walked.parent))
    finally:
        for handle in handles:
            os.close(handle)


def test_plain_path_takes_the_short_way(tree: Path) -> None:
    """It is there to be used; whatever meets a link is not on it."""
    handles: list[int] = []
    plain, missing, linked = (
        _straight(f"{tree}/{name}".encode(), handles, quick=False)
        for name in ("a/b/f", "a/b/new", "in/f")
    )
    for handle in handles:
        os.close(handle)

    assert plain is not None
    assert plain.status is not None
    assert missing is not None
    assert missing.status is None
    assert linked is None
