"""The command in small; tests/e2e/test_rewind.py plays it whole."""

import pytest

from orchestrator.cli.app import run_app
from orchestrator.cli.rewind import rewind
from orchestrator.errors import SessionError, UsageError


@pytest.mark.parametrize(
    "flags", [{"files": True, "conversation": True}, {"both": True, "files": True}]
)
def test_only_one_of_the_three_is_taken(flags):
    """Two would be a riddle."""
    with pytest.raises(UsageError, match="expected one of"):
        rewind(None, None, **flags)


def test_second_word_that_is_no_place_is_refused():
    """Before anything is opened."""
    with pytest.raises(UsageError, match="'yesterday'"):
        rewind("0123", "yesterday")


def test_directory_without_sessions_is_told(tmp_path, monkeypatch):
    """With the way to the others."""
    monkeypatch.setenv("GLOVEBOX_STATE", str(tmp_path / "state"))

    with pytest.raises(SessionError, match="no session here"):
        rewind(cd=tmp_path)


def test_help_names_what_can_be_given(capsys):
    """Turn, snapshot, and the three ways."""
    assert run_app(["rewind", "--help"]) == 0

    out = capsys.readouterr().out
    assert all(word in out for word in ("TURN", "--files", "--conversation", "--undo", "--list"))
