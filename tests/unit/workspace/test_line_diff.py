from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspace.line_diff import (
    find_hunks,
    join_lines,
    pair_digest,
    split_lines,
    take_hunks,
)

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=40).map("".join)


@given(st.binary())
def test_lines_join_to_the_same_bytes(data):
    """Whatever the encoding and the last line's end."""
    assert join_lines(split_lines(data)) == data


@given(TEXTS, TEXTS)
def test_all_hunks_make_the_new_text_and_none_the_old(old, new):
    """The two ends of what can be chosen."""
    before, after = split_lines(old.encode()), split_lines(new.encode())
    numbers = [hunk.number for hunk in find_hunks(before, after)]

    assert take_hunks(before, after, numbers) == after
    assert take_hunks(before, after, []) == before


def test_one_hunk_leaves_the_others_to_be_taken():
    """What is left afterwards are the other hunks, in their order."""
    before = [f"{number}\n" for number in range(30)]
    after = list(before)
    after[2], after[15], after[28] = "two\n", "fifteen\n", "last"

    once = take_hunks(before, after, [2])

    assert once[2] == before[2]
    assert once[15] == after[15]
    assert [hunk.header for hunk in find_hunks(once, after)] == [
        "@@ -1,6 +1,6 @@",
        "@@ -26,5 +26,5 @@",
    ]
    assert take_hunks(once, after, [1, 2]) == after


def test_digest_tells_both_sides_apart():
    """Moving a byte from one side to the other is another pair."""
    assert pair_digest(b"ab", b"c") != pair_digest(b"a", b"bc")
    assert pair_digest(b"ab", b"c") == pair_digest(b"ab", b"c")
