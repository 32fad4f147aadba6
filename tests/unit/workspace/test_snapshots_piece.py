import json

import pytest

from orchestrator.workspace.node import Signature
from orchestrator.workspace.snapshots_piece import (
    Piece,
    decode_piece,
    encode_piece,
    is_covered,
    is_opaque,
    opaque,
    whiteout,
)

DIRECTORY = Piece("directory", 0o755, 1, 1, 5)
FILE = Piece(
    "file",
    0o4755,
    1000,
    1001,
    123,
    size=7,
    sha256="ab" * 32,
    marks=(("user.a", "00ff"),),
    twin="x\udcff",
    lost="why",
    seen=Signature(1, 2, 3, 4, 5),
)


@pytest.mark.parametrize("piece", [FILE, DIRECTORY, whiteout(), None])
def test_piece_survives_its_json(piece):
    """Names that are no UTF-8 too."""
    assert decode_piece(json.loads(json.dumps(encode_piece(piece)))) == piece


def test_same_looks_past_when_it_was_read():
    """What would be made is what counts."""
    later = Piece(**{**{name: getattr(FILE, name) for name in FILE.__slots__}, "seen": None})

    assert FILE.same(later)
    assert not FILE.same(DIRECTORY)
    assert not FILE.same(None)


def test_layer_covers_what_stands_below_its_files_whiteouts_and_opaque_directories():
    """Through a plain directory the layer below shows."""
    layer = {
        "": DIRECTORY,
        "plain": DIRECTORY,
        "shut": opaque(DIRECTORY),
        "gone": whiteout(),
        "file": FILE,
    }

    covered = [
        p
        for p in ("plain/x", "shut/x/y", "gone/x", "file/x", "file", "other")
        if is_covered(p, layer)
    ]

    assert covered == ["shut/x/y", "gone/x", "file/x", "file"]
    assert is_opaque(layer["shut"])
    assert not is_opaque(DIRECTORY)
