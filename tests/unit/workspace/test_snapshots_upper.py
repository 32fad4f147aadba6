import os
import stat
import threading
from contextlib import closing, contextmanager

import pytest

from orchestrator.workspace.node import Limits
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_scan import Moving, changed, scan
from orchestrator.workspace.snapshots_upper import UpperLayer, file_clock_ns
from orchestrator.workspace.tree import open_tree
from tests.support.budgets import folder_on_disk
from tests.support.plain_user import as_plain_user
from tests.support.workspaces import give


@pytest.fixture
def upper(tmp_path):
    root = tmp_path / "upper"
    (root / "d").mkdir(parents=True)
    (root / "d" / "file").write_text("x")
    (root / "link").symlink_to("d/file")
    os.link(root / "d" / "file", root / "again")
    os.mkfifo(root / "pipe")
    os.setxattr(root / "d", "user.overlay.opaque", b"y")
    return root


@pytest.fixture
def contents(tmp_path):
    return Contents(tmp_path / "contents")


@contextmanager
def layer(root, *, later_ns=10**9, most_bytes=2**30, limits=None):
    """Open the layer as if a second had gone by since the last write."""
    with open_tree(root) as tree:
        made = UpperLayer(tree, limits or Limits(), most_bytes, file_clock_ns() + later_ns)
        with closing(made):
            yield made


def look(root, known, contents, **more):
    with layer(root, **more) as opened:
        return scan(opened, known, contents, limits=Limits())


def test_everything_is_told(upper, contents):
    """Types, marks, targets, and which names are one file."""
    found = look(upper, {}, contents)

    types = {path: piece.type for path, piece in found.items()}
    assert types == {
        "": "directory",
        "d": "directory",
        "d/file": "file",
        "again": "file",
        "link": "symlink",
        "pipe": "fifo",
    }
    assert (found["d/file"].twin, found["again"].twin) == ("again", "")
    assert found["link"].target == "d/file"
    assert found["d"].marks == (("user.overlay.opaque", b"y".hex()),)
    assert contents.has(found["again"].sha256)


@pytest.mark.skipif(os.geteuid() != 0, reason="older kernels let only root make whiteouts")
def test_whiteout_is_one(upper, contents):
    """A device of any other number is none."""
    os.mknod(upper / "gone", stat.S_IFCHR, os.makedev(0, 0))
    os.mknod(upper / "null", stat.S_IFCHR, os.makedev(1, 3))

    found = look(upper, {}, contents)

    assert (found["gone"].type, found["null"].type) == ("whiteout", "device")


def test_file_that_did_not_change_is_not_read_again(upper, contents):
    """Its state proves it; one that was touched is read."""
    known = look(upper, {}, contents)
    contents.drop_all_but([])
    (upper / "d" / "new").write_text("new")

    found = look(upper, known, contents)

    assert found["again"] is known["again"]
    assert set(contents.sizes()) == {found["d/new"].sha256}
    assert set(changed(known, found)) == {"d", "d/new"}


def test_young_state_proves_nothing(upper, contents):
    """Two writes within one tick of the clock look like one, so the file is read again."""
    known = look(upper, {}, contents, later_ns=0)

    assert known["d/file"].seen is None
    assert changed(known, look(upper, known, contents)) == {}


def test_name_that_is_gone_is_told(upper, contents):
    """None stands for it."""
    known = look(upper, {}, contents)
    (upper / "pipe").unlink()

    assert changed(known, look(upper, known, contents))["pipe"] is None


def test_large_file_is_named_but_not_kept(upper, contents):
    """It would push all others out."""
    (upper / "large").write_bytes(bytes(2000))

    found = look(upper, {}, contents, most_bytes=1000)

    assert found["large"].lost == "it is larger than 1000 bytes"
    assert found["large"].size == 2000


def test_file_that_is_written_meanwhile_is_moving(upper, contents):
    """Half of one content and half of another is no snapshot."""
    (upper / "log").write_bytes(bytes(50 * 1024 * 1024))
    stop = threading.Event()

    def write() -> None:
        with (upper / "log").open("ab") as file:
            while not stop.is_set():
                file.write(b"x")
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(Moving):
            look(upper, {}, contents)
    finally:
        stop.set()
        writer.join()


def test_crowded_directory_is_lost_and_nothing_in_it_is_gone(upper, contents):
    """The rest is kept; what was known of it is taken as still there."""
    (upper / "z").mkdir()
    (upper / "z" / "n").write_text("n")
    known = look(upper, {}, contents)
    for number in range(50):
        (upper / "d" / str(number)).touch()

    found = look(upper, known, contents, limits=Limits(entries=20))

    assert "more than 20 names" in found["d"].lost
    assert found["z/n"].sha256
    assert found["d/file"] is known["d/file"]
    assert set(changed(known, found)) == {"d"}


def test_contents_are_bounded_together(upper, contents):
    """The later ones are named but not kept."""
    for number in range(5):
        (upper / str(number)).write_bytes(bytes([number]) * 100)

    found = look(upper, {}, contents, limits=Limits(bytes=301))

    lost = [path for path, piece in found.items() if piece.lost]
    assert len(lost) == 3
    assert sum(contents.sizes().values()) <= 301


@pytest.fixture
def reachable():
    """An upper directory that a plain user gets to, with names whose owner shut himself out."""
    with folder_on_disk() as folder:
        (folder / "upper" / "shut" / "inner").mkdir(parents=True)
        (folder / "upper" / "shut" / "inner" / "f").write_text("deep")
        (folder / "upper" / "half").mkdir()
        (folder / "upper" / "half" / "f").write_text("half")
        (folder / "upper" / "f").write_text("mine")
        give(folder)
        for path, mode in SHUT.items():
            (folder / "upper" / path).chmod(mode)
        yield folder


SHUT = {"shut/inner": 0o000, "shut": 0o300, "half": 0o640, "f": 0o000}


def test_what_lets_nobody_in_is_kept_all_the_same(reachable):
    """A program in the box shut it, as the same user that looks; it stays as shut as it was."""
    upper, contents = reachable / "upper", Contents(reachable / "contents")
    found = as_plain_user(lambda: look(upper, {}, contents))
    again = as_plain_user(lambda: look(upper, found, contents))

    assert [piece.lost for piece in found.values() if piece.lost] == []
    assert {path: found[path].mode for path in SHUT} == SHUT
    assert all(contents.has(found[path].sha256) for path in ("shut/inner/f", "half/f", "f"))
    assert changed(found, again) == {}
    assert {path: stat.S_IMODE((upper / path).stat().st_mode) for path in SHUT} == SHUT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_is_somebody_elses_stays_shut(reachable):
    """Nothing is done to it, and why it is not kept is said."""
    theirs = reachable / "upper" / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 4242, 4242)
    found = as_plain_user(lambda: look(reachable / "upper", {}, Contents(reachable / "contents")))

    assert "lets nobody" in found["theirs"].lost
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o700


def test_mode_that_changes_meanwhile_is_not_put_back(upper):
    """A program in the box has its way."""
    (upper / "d").chmod(0o300)
    with layer(upper) as opened:
        for met in opened.walk():
            if met.path == "d/file":
                (upper / "d").chmod(0o711)

    assert stat.S_IMODE((upper / "d").stat().st_mode) == 0o711
