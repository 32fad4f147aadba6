import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspace.merge3 import merge_texts

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=30).map(
    lambda lines: "".join(lines).encode()
)
BASE = b"1\n2\n3\n4\n5\n6\n7\n8\n"


@given(TEXTS, TEXTS)
def test_only_one_side_changed_gives_that_side(base, side):
    """Nothing of it is lost, and nothing overlaps."""
    assert merge_texts(base, side, base) == merge_texts(base, base, side)
    assert merge_texts(base, side, base).data == side
    assert merge_texts(base, side, side).data == side
    assert not merge_texts(base, side, side).overlaps


@given(TEXTS, TEXTS, TEXTS)
def test_sides_may_be_swapped(base, ours, theirs):
    """Neither is better than the other."""
    one, other = merge_texts(base, ours, theirs), merge_texts(base, theirs, ours)

    assert len(one.overlaps) == len(other.overlaps)
    if not one.overlaps:
        assert one.data == other.data


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (BASE.replace(b"2", b"two"), BASE.replace(b"7", b"seven")),
        (BASE.replace(b"2\n", b""), BASE + b"9\n"),
        (b"0\n" + BASE, BASE.removesuffix(b"\n")),
        (BASE.replace(b"4", b"four"), BASE.replace(b"4", b"four").replace(b"8", b"eight")),
    ],
)
def test_clean_merges_are_those_of_git(tmp_path, ours, theirs):
    """The same three texts give the same result there."""
    for name, text in (("ours", ours), ("base", BASE), ("theirs", theirs)):
        (tmp_path / name).write_bytes(text)
    of_git = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )

    merged = merge_texts(BASE, ours, theirs)

    assert merged.overlaps == ()
    assert merged.data == of_git.stdout


def test_overlap_is_told_and_favour_decides_only_there():
    """Each side's other changes arrive whoever is favoured."""
    ours = BASE.replace(b"4", b"four").replace(b"1", b"one")
    theirs = BASE.replace(b"4", b"vier").replace(b"8", b"acht")

    merged = merge_texts(BASE, ours, theirs)

    assert [(o.line, o.ours, o.theirs) for o in merged.overlaps] == [(4, ("four\n",), ("vier\n",))]
    both = b"one\n2\n3\n%s\n5\n6\n7\nacht\n"
    assert merge_texts(BASE, ours, theirs, favour="ours").data == both % b"four"
    assert merge_texts(BASE, ours, theirs, favour="theirs").data == both % b"vier"


def test_two_texts_without_a_beginning_overlap_whole():
    """As when both sides added the same name."""
    assert len(merge_texts(b"", b"x\n", b"y\n").overlaps) == 1
