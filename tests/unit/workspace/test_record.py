import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.record import WorkspaceRecord, load_record, locked, save_record


def record(**fields) -> WorkspaceRecord:
    given = {
        "session": "0" * 12,
        "mode": "copy",
        "directory": "/x\udcff",
        "inode": 1,
        "uid": 1000,
        "gid": 1000,
        "volume": "v",
        "image": "i",
        "started_ns": 1,
        "disk_bytes": 1,
    }
    return WorkspaceRecord(**{**given, **fields})


def test_record_comes_back_as_it_was_saved(tmp_path):
    """Names of any bytes included."""
    made = record(applied={"a\udcff": "x"}, hidden=("**/.env",))
    save_record(tmp_path, made)

    assert load_record(tmp_path) == made
    assert load_record(tmp_path / "none") is None


@pytest.mark.parametrize("text", ["", "{}", '{"version": 2}', "[]"])
def test_broken_record_is_an_error_that_names_the_way_out(tmp_path, text):
    """A newer version's record is not guessed at either."""
    (tmp_path / "workspace.json").write_text(text)

    with pytest.raises(WorkspaceError, match="record cannot be read") as caught:
        load_record(tmp_path)

    assert "glovebox discard" in caught.value.hint


def test_unknown_field_is_an_error():
    """A record is ours to the letter."""
    with pytest.raises(ValueError, match="surprise"):
        record(surprise=1)


def test_second_holder_is_told_to_wait(tmp_path):
    """Until the first one is done."""
    with locked(tmp_path), pytest.raises(WorkspaceError, match="another glovebox command"):
        locked(tmp_path).__enter__()
    with locked(tmp_path, wait=True):
        pass
