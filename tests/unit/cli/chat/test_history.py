"""What was said before: kept, bounded, and never in the way."""

import json

import pytest

from orchestrator.cli.chat.history import MAX_BYTES, MOST, SaidHistory


def same(text):
    return text


def kept(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_nothing_is_written_before_secrets_can_be_left_out(tmp_path):
    path = tmp_path / "said"
    history = SaidHistory(path)
    history.append_string("key-1234 is my key")
    assert not path.exists()

    history.keep(lambda text: text.replace("key-1234", "[x]"))
    history.append_string("key-1234 too\nin two lines")

    assert kept(path) == ["[x] is my key", "[x] too\nin two lines"]


def test_newest_comes_first_and_old_ones_go(tmp_path):
    path = tmp_path / "said"
    path.write_text("".join(f"{json.dumps(str(n))}\n" for n in range(2 * MOST + 1)))
    path.chmod(0o600)

    found = list(SaidHistory(path).load_history_strings())

    assert found[:2] == [str(2 * MOST), str(2 * MOST - 1)]
    assert len(found) == len(kept(path)) == MOST
    assert path.stat().st_mode & 0o777 == 0o600


def test_long_pastes_do_not_keep_the_newest_away(tmp_path):
    """Of a file that grew too large the end is read, and it is cut to that."""
    path = tmp_path / "said"
    with path.open("w") as file:
        for number in range(5):
            file.write(json.dumps(f"{number}" * (MAX_BYTES // 4)) + "\n")
        file.write('"newest"\n')

    found = list(SaidHistory(path).load_history_strings())

    assert [text[0] for text in found] == ["n", "4", "3", "2"]
    assert path.stat().st_size <= MAX_BYTES


@pytest.mark.parametrize("text", ['"cut o', "[1]", "", "\x00\xff"])
def test_lines_that_cannot_be_read_are_passed_over(tmp_path, text):
    path = tmp_path / "said"
    path.write_text(f'"one"\n{text}\n"two"\n')

    assert list(SaidHistory(path).load_history_strings()) == ["two", "one"]


def test_link_in_its_place_is_neither_read_nor_written(tmp_path):
    """Somebody else put it there."""
    other = tmp_path / "other"
    other.write_text('"theirs"\n')
    path = tmp_path / "said"
    path.symlink_to(other)
    history = SaidHistory(path)
    history.keep(same)
    history.append_string("mine")

    assert list(history.load_history_strings()) == []
    assert other.read_text() == '"theirs"\n'
