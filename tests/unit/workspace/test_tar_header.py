import io
import tarfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.tar_header import TarStream
from tests.support.hostile_tar import archive, chunks, member

ALLOWED = 10_000_000


def names(data: bytes) -> list[tuple[str, bytes]]:
    stream = TarStream(chunks(data, 333), ALLOWED)
    return [(info.name, b"".join(stream.data())) for info in stream.members()]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_members_and_data_come_out_as_they_went_in(form):
    """In each of the forms that engines write, long names and odd sizes included."""
    long = "d/" * 40 + "f" if form == tarfile.USTAR_FORMAT else "x" * 300 + "/\u00e4"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as tar:
        for name, data in (("a", b""), (long, b"y" * 700), ("c", b"z" * 512)):
            info = member(name, size=len(data))
            tar.addfile(info, io.BytesIO(data))

    assert names(buffer.getvalue()) == [("a", b""), (long, b"y" * 700), ("c", b"z" * 512)]


def test_data_that_nobody_reads_is_passed_over():
    """The next header is found in any case."""
    stream = TarStream(chunks(archive((member("a"), b"x" * 5000), (member("b"), b"y"))), ALLOWED)

    assert [info.name for info in stream.members()] == ["workspace", "a", "b"]


def test_name_that_is_no_utf8_survives():
    """Bytes come back as the same bytes."""
    data = archive((member("a\udcff"), b""))

    assert names(data)[1][0] == "a\udcff"


def broken(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


GOOD = archive((member("a"), b"x"), (member("b"), b"y"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD[:512], "ended before"),
        (broken(GOOD, 512, b"Z"), "broken header"),
        (b"", "ended before"),
        (b"this is no archive" * 100, "broken header"),
        (archive((member("a", pax_headers={"GNU.sparse.major": "1"}), b"")), "sparse"),
        (archive((member("a", pax_headers={"size": "-5"}), b"")), "bytes"),
        (archive((member("a", pax_headers={"size": "\u0663"}), b"")), "bytes"),
    ],
)
def test_stream_that_is_not_whole_and_plain_is_an_error(data, words):
    """A lenient reader would take a broken header for the end."""
    with pytest.raises(WorkspaceError, match=words):
        names(data)


def test_global_header_is_an_error():
    """It would change all that follow."""
    info = tarfile.TarInfo.create_pax_global_header({"path": "evil"})

    with pytest.raises(WorkspaceError, match="global header"):
        names(info + GOOD)


@given(st.binary(max_size=3000), st.integers(0, 2000))
def test_any_bytes_end_in_members_or_an_error(junk, at):
    """Nothing else is ever raised, and nothing hangs."""
    for data in (junk, broken(GOOD, min(at, len(GOOD) - 1), junk[:600])):
        with suppress(WorkspaceError):
            assert names(data) is not None
