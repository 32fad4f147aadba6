import os

import pytest

from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.rewind_below import with_below
from orchestrator.workspace.snapshots_piece import Piece, is_opaque, whiteout
from orchestrator.workspace.tree import open_tree

HIDDEN = path_globs(["**/.env"])
DIRECTORY = Piece("directory", 0o700, 1, 1, 5)
FILE = Piece("file", 0o644, 1, 1, 5, sha256="aa")


@pytest.fixture
def host(tmp_path):
    """A host after an apply: it has new/x, d/y and top."""
    for name in ("new", "d"):
        (tmp_path / name).mkdir(mode=0o750)
    for name in ("new/x", "d/y", "top"):
        (tmp_path / name).write_text("applied")
    with open_tree(tmp_path) as tree:
        yield tree


def test_what_the_apply_made_is_hidden_and_what_it_replaced_is_there(host):
    """With the directories above, as the host has them."""
    wanted = with_below(
        {"": DIRECTORY}, {"new": None, "d/y": FILE, "top": FILE}, host, hidden=HIDDEN
    )

    assert wanted["new"].type == "whiteout"
    assert wanted["d/y"].same(FILE)
    assert wanted["top"].same(FILE)
    assert (wanted["d"].type, wanted["d"].mode) == ("directory", 0o750)
    assert wanted["d"].uid == os.stat(f"{host.root}/d").st_uid  # noqa: PTH116


def test_what_the_layer_had_itself_stays(host):
    """A file, and everything below a whiteout."""
    state = {"top": FILE, "d": whiteout()}

    assert with_below(state, {"top": None, "d/y": FILE}, host, hidden=HIDDEN) == state


def test_directory_that_stood_over_nothing_shows_nothing_of_what_is_there_now(host):
    """It becomes opaque; one that stood over a directory stays as it is."""
    state = {"new": DIRECTORY, "d": DIRECTORY}

    wanted = with_below(state, {"new": None, "d": DIRECTORY}, host, hidden=HIDDEN)

    assert is_opaque(wanted["new"])
    assert wanted["d"] == DIRECTORY


def test_what_the_host_does_not_have_any_more_needs_no_hiding(host):
    """The person removed it since."""
    assert with_below({}, {"gone": None}, host, hidden=HIDDEN) == {}


def test_what_policy_hides_by_now_is_never_put_before_the_box(host):
    """Whatever stood there once."""
    assert with_below({}, {".env": FILE, "d/.env": FILE}, host, hidden=HIDDEN) == {}
