"""The chain's file: one writer, whole lines, and no word of success that is not true."""

import os
import stat
from pathlib import Path

import pytest

from orchestrator.audit.files import ChainFile, is_unbegun
from orchestrator.errors import AuditError, AuditUnavailable

from .conftest import file_size_limit


def test_new_file_and_folder_are_the_owners_alone(tmp_path: Path) -> None:
    """What the agent did is nobody else's to read."""
    path = tmp_path / "audit" / "a.jsonl"

    ChainFile.create(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_appended_lines_are_read_back(tmp_path: Path) -> None:
    """Lines come back with their ends, split on line feeds alone."""
    file = ChainFile.create(tmp_path / "a")
    file.append(b"one\n")
    file.append("two\u2028\r\x85\n".encode())

    assert file.lines() == [b"one\n", "two\u2028\r\x85\n".encode()]


def test_existing_file_is_never_begun_anew(tmp_path: Path) -> None:
    """Creating cannot wipe a chain."""
    (tmp_path / "a").write_bytes(b"old\n")

    with pytest.raises(AuditError, match="a chain is there already"):
        ChainFile.create(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old\n"


def test_second_writer_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    """Two writers would fork the chain."""
    first = ChainFile.create(tmp_path / "a")
    with pytest.raises(AuditUnavailable, match="another process writes this chain"):
        ChainFile.open(tmp_path / "a")

    first.close()
    first.close()

    ChainFile.open(tmp_path / "a").close()


def test_missing_chain_cannot_be_opened(tmp_path: Path) -> None:
    """Resuming never makes a chain."""
    with pytest.raises(AuditError, match="there is no chain"):
        ChainFile.open(tmp_path / "a")


def test_link_is_not_followed(tmp_path: Path) -> None:
    """A planted link cannot send the log elsewhere."""
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / "a").symlink_to(tmp_path / "target")

    with pytest.raises(AuditUnavailable):
        ChainFile.open(tmp_path / "a")


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """The error says where, and what to do."""
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(AuditUnavailable, match="file/a") as caught:
        ChainFile.create(tmp_path / "file" / "a")
    assert "free space" in caught.value.hint


def test_failed_append_leaves_nothing_and_may_be_repeated(tmp_path: Path) -> None:
    """A full disk costs the append, not the chain: half a line is taken back."""
    file = ChainFile.create(tmp_path / "a")
    file.append(b"x" * 99 + b"\n")

    with file_size_limit(150), pytest.raises(AuditUnavailable, match="cannot be written"):
        file.append(b"y" * 99 + b"\n")
    assert (tmp_path / "a").stat().st_size == 100

    file.append(b"z" * 99 + b"\n")
    assert file.lines()[1] == b"z" * 99 + b"\n"


def test_closed_file_takes_nothing(tmp_path: Path) -> None:
    """A record after the end is refused."""
    file = ChainFile.create(tmp_path / "a")
    file.close()

    with pytest.raises(AuditUnavailable, match="is closed"):
        file.append(b"x\n")
    assert file.is_closed


def test_abandoned_file_stays_only_if_something_is_in_it(tmp_path: Path) -> None:
    """An empty chain is no chain; a record is never removed."""
    ChainFile.create(tmp_path / "empty").abandon()
    file = ChainFile.create(tmp_path / "used")
    file.append(b"x\n")
    file.abandon()

    assert [path.name for path in tmp_path.iterdir()] == ["used"]


def test_deleted_file_takes_nothing(tmp_path: Path) -> None:
    """A record that nobody could find later is no record."""
    file = ChainFile.create(tmp_path / "a")
    (tmp_path / "a").unlink()

    with pytest.raises(AuditUnavailable):
        file.append(b"x\n")


def test_replaced_file_takes_nothing(tmp_path: Path) -> None:
    """A file put in the chain's place is noticed before the next record."""
    file = ChainFile.create(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(AuditUnavailable, match="moved away and replaced"):
        file.append(b"x\n")


def test_foreign_bytes_are_noticed(tmp_path: Path) -> None:
    """Who writes past the lock stops the log, which would no longer verify."""
    file = ChainFile.create(tmp_path / "a")
    with (tmp_path / "a").open("ab") as other:
        other.write(b"intruder")

    with pytest.raises(AuditUnavailable, match="expected 0 bytes, got 8"):
        file.append(b"x\n")


def test_failed_fsync_ends_the_log_for_good() -> None:
    """After one fsync failed a later one proves nothing (/dev/null has no fsync)."""
    null = Path("/dev/null")
    file = ChainFile(null, os.open(null, os.O_WRONLY))

    with pytest.raises(AuditUnavailable):
        file.append(b"x\n")
    with pytest.raises(AuditUnavailable, match="fsync failed"):
        file.append(b"x\n")
    file.close()


def test_append_that_cannot_be_taken_back_ends_the_log() -> None:
    """Where nobody knows what is on disk, nothing more is written (/dev/full cannot be cut)."""
    full = Path("/dev/full")
    file = ChainFile(full, os.open(full, os.O_WRONLY))

    with pytest.raises(AuditUnavailable):
        file.append(b"x\n")
    with pytest.raises(AuditUnavailable, match="an append failed half way"):
        file.append(b"x\n")
    file.close()


def test_file_that_cannot_be_read_or_cut_says_so(tmp_path: Path) -> None:
    """Every failure of the disk has the chain's name on it."""
    (tmp_path / "a").write_bytes(b"x")
    file = ChainFile(tmp_path / "a", os.open(tmp_path / "a", os.O_WRONLY))
    with pytest.raises(AuditUnavailable):
        file.lines()
    file.close()

    file = ChainFile(tmp_path / "a", os.open(tmp_path / "a", os.O_RDONLY))
    with pytest.raises(AuditUnavailable):
        file.cut_tail(1)
    file.close()


def test_tail_can_be_cut(tmp_path: Path) -> None:
    """The chain goes on where the whole lines end."""
    file = ChainFile.create(tmp_path / "a")
    file.append(b"one\ntorn")

    file.cut_tail(4)
    file.append(b"two\n")

    assert (tmp_path / "a").read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("data", "unbegun"), [(b"", True), (b'{"seq"', True), (b"{}\n", False), (b"{}\n{", False)]
)
def test_chain_without_one_whole_line_was_never_begun(
    tmp_path: Path, data: bytes, unbegun: bool
) -> None:
    """One that is not there is none either, and is not to be taken away."""
    path = tmp_path / "chain.jsonl"
    path.write_bytes(data)

    assert is_unbegun(path) is unbegun
    assert not is_unbegun(tmp_path / "none")


def test_chain_that_is_no_file_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="the chain cannot be read"):
        is_unbegun(tmp_path)
