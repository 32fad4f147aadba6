import os
from pathlib import Path

import pytest
from config import Config, Limits
from output import HEAD_BYTES, KEPT_BYTES, KEPT_LINES, TAIL_BYTES, Output, first_part, last_part


@pytest.fixture
def config(tmp_path):
    limits = Limits(1 << 30, 1 << 30, 1 << 30, 1 << 30)
    ids = (os.geteuid(), os.getegid())
    return Config("/w", "/h", str(tmp_path / "spill"), (), (), *ids, {}, limits, exec_record=False)


def summary(config, *pieces):
    output = Output(config, "1")
    for piece in pieces:
        output.add(piece)
    return output.summary()


def test_short_output_is_kept_whole(config):
    """Nothing is cut or spilled that fits."""
    found = summary(config, b"one\n", b"two")

    assert found == {
        "head": "one\ntwo",
        "tail": "",
        "total_bytes": 7,
        "total_lines": 2,
        "spill": None,
    }


def test_output_at_the_limit_is_kept_whole(config):
    """The limit itself still fits."""
    found = summary(config, b"x" * KEPT_BYTES)

    assert (len(found["head"]), found["spill"]) == (KEPT_BYTES, None)


@pytest.mark.parametrize("size", [7, 1000, 65_536])
def test_long_output_keeps_both_ends_and_spills_all(config, size):
    """The model sees the beginning and the end; the file holds every byte."""
    text = b"".join(b"line %d\n" % n for n in range(50_000))

    found = summary(config, *(text[i : i + size] for i in range(0, len(text), size)))

    assert found["head"].startswith("line 0\nline 1\n")
    assert found["head"].endswith("\n")
    assert found["tail"].endswith("line 49998\nline 49999\n")
    assert found["tail"].startswith("line ")
    assert len(found["head"]) + len(found["tail"]) <= KEPT_BYTES
    assert (found["total_bytes"], found["total_lines"]) == (len(text), 50_000)
    assert Path(found["spill"]).read_bytes() == text


def test_many_short_lines_are_cut_by_number(config):
    """Two thousand lines are enough, however short."""
    found = summary(config, b"\n" * 5000)

    assert found["head"].count("\n") + found["tail"].count("\n") <= KEPT_LINES
    assert found["total_lines"] == 5000


def test_one_endless_line_is_cut_between_characters(config):
    """A cut never splits a character."""
    found = summary(config, "ü".encode() * 60_000)

    assert set(found["head"]) == set(found["tail"]) == {"ü"}
    assert len(found["head"].encode()) in {HEAD_BYTES, HEAD_BYTES - 1}
    assert len(found["tail"].encode()) in {TAIL_BYTES, TAIL_BYTES - 1}


def test_bytes_that_are_no_text_are_replaced(config):
    """The outcome is always text."""
    assert summary(config, b"a\xff\xfeb")["head"] == "a\ufffd\ufffdb"


def test_spill_is_readable_by_its_user_alone(config):
    """The spill may hold what others must not read."""
    found = summary(config, b"x" * 60_000)

    assert Path(found["spill"]).stat().st_mode & 0o777 == 0o600


def test_file_in_the_way_is_never_overwritten(config, tmp_path):
    """A command that puts a link where the spill would go gains nothing by it."""
    target = tmp_path / "target"
    target.write_text("kept")
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "1.log").symlink_to(target)

    found = summary(config, b"x" * 60_000)

    assert found["spill"] is None
    assert target.read_text() == "kept"


def test_parts_of_short_data_are_the_data():
    """The two cuts are total functions."""
    assert first_part(b"") == b""
    assert last_part(b"") == b""
    assert last_part(b"a\nb\n") == b"a\nb\n"
