import json

import pytest

from orchestrator.workspace.manifest import Original
from orchestrator.workspace.node import Node, Outcome, Signature
from orchestrator.workspace.picture import (
    drop_picture,
    keep_picture,
    load_picture,
    save_picture,
    take_picture,
)
from orchestrator.workspace.spool import Spool

SEEN = Signature(1, 0o100644, 1, 2, 3)
OF = ("volume", "word")


def node(mark, **more):
    return Node("file", 0o644, size=1, sha256=mark, **more)


ORIGINALS = {path: Original(path, node(path), SEEN) for path in ("same", "other", "gone")}
BOX = {
    "same": node("same"),
    "other": node("x"),
    "new\udcff": Node("symlink", 0o777, target="\u202e"),
    "odd": node("", trouble="left"),
}


@pytest.fixture
def spool(tmp_path):
    made = Spool(tmp_path / "contents")
    made.clear()
    made.take([b"kept"], size=4, unwanted="")
    return made


@pytest.fixture
def saved(tmp_path, spool):
    """A folder with a picture."""
    save_picture(tmp_path, take_picture(BOX, ORIGINALS, spool, of=OF))
    return tmp_path


def test_picture_comes_back_whole(saved, spool):
    """With what is as it went in, and without what is gone."""
    found = load_picture(saved, spool, of=OF)

    assert found.whole(ORIGINALS) == BOX
    assert set(found.differing) == BOX.keys() - {"same"} | {"gone"}


def test_applied_paths_do_not_change_what_the_box_holds(saved, spool):
    """The manifest moves on to what was applied; the picture stays right."""
    outcome = Outcome(now={"other": BOX["other"], "gone": None})
    moved_on = {**ORIGINALS, "other": Original("other", BOX["other"], SEEN)}
    del moved_on["gone"]

    keep_picture(saved, outcome)

    assert load_picture(saved, spool, of=OF).whole(moved_on) == BOX


def test_picture_goes_where_the_manifest_moves_on_without_it(saved, spool):
    """A path that it does not spell out would become what was applied."""
    keep_picture(saved, Outcome(now={"same": node("applied")}))

    assert load_picture(saved, spool, of=OF) is None


@pytest.mark.parametrize("of", [("volume", "later"), ("volume-2", "word"), ("volume", "")])
def test_picture_of_another_time_or_volume_is_none(saved, spool, of):
    """Without a word nothing is known."""
    assert load_picture(saved, spool, of=of) is None


def test_missing_or_cut_content_spoils_the_picture(saved, spool):
    """After a crash of the machine a content may be empty."""
    kept = next(spool.directory.iterdir())
    kept.write_bytes(b"")
    assert load_picture(saved, spool, of=OF) is None
    kept.unlink()
    assert load_picture(saved, spool, of=OF) is None


@pytest.mark.parametrize("lines", [0, 1, 2, -1])
def test_cut_picture_is_none(saved, spool, lines):
    """A shorter list would hide changes."""
    path = saved / "picture.jsonl"
    path.write_text("\n".join(path.read_text().splitlines()[:lines]))

    assert load_picture(saved, spool, of=OF) is None


@pytest.mark.parametrize("row", ["nonsense", "[]", '["p", {"type": "file"}]', '["p"]', "7"])
def test_broken_picture_is_none(saved, spool, row):
    """The volume is read instead."""
    path = saved / "picture.jsonl"
    path.write_text("\n".join([path.read_text().splitlines()[0], row, json.dumps("end")]))

    assert load_picture(saved, spool, of=OF) is None
    keep_picture(saved, Outcome(now={"p": None}))


def test_dropping_what_is_not_there_is_no_error(tmp_path, spool):
    """Nor is asking for it."""
    drop_picture(tmp_path)
    keep_picture(tmp_path, Outcome(now={"p": None}))

    assert load_picture(tmp_path, spool, of=OF) is None
