"""Which session a command is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.sessions_chosen import SHOWN, cut, existing_directory
from orchestrator.errors import UsageError


def test_line_is_cut_visibly() -> None:
    """A long one ends with a mark."""
    assert cut("x" * SHOWN) == "x" * SHOWN
    assert cut("x" * (SHOWN + 1)) == "x" * (SHOWN - 1) + "…"


def test_directory_must_be_there(tmp_path: Path) -> None:
    """The flag is named; none given stays none."""
    assert existing_directory(None, "--to") is None
    assert existing_directory(tmp_path, "--to") == tmp_path.resolve()
    with pytest.raises(UsageError, match=r"--to .*expected a directory"):
        existing_directory(tmp_path / "x", "--to")
