from __future__ import annotations

import subprocess
from pathlib import Path

from hunks import MAX_LINES, Change, compare, split_lines, unified
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n"]), max_size=40).map(
    b"".join
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=TEXTS, new=TEXTS, ended=st.booleans())
def test_any_diff_is_one_that_patch_applies(
    tmp_path: Path, old: bytes, new: bytes, ended: bool
) -> None:
    """The diff is a real unified diff, not a picture of one."""
    if not ended:
        new = new.removesuffix(b"\n")
    before = split_lines(old)
    diff = unified("f", before, compare(before, split_lines(new)))
    (tmp_path / "f").write_bytes(old)
    if diff:
        subprocess.run(
            ["patch", "-s", "--no-backup-if-mismatch", "f"],
            cwd=tmp_path,
            input=diff.encode(),
            check=True,
        )

    left = (tmp_path / "f").read_bytes() if (tmp_path / "f").exists() else b""
    assert left == new


def test_distant_changes_are_separate_hunks() -> None:
    """Unchanged lines between them are not shown."""
    lines = [b"%d\n" % number for number in range(100)]

    diff = unified("f", lines, [Change(2, 3, (b"x\n",)), Change(90, 91, ())])

    assert "@@ -1,6 +1,6 @@" in diff
    assert "@@ -88,7 +88,6 @@" in diff
    assert " 50" not in diff


def test_rewrite_is_bounded() -> None:
    """A large rewrite is shown in part and the rest counted."""
    old = [b"old %d\n" % number for number in range(2000)]
    new = [b"new %d\n" % number for number in range(2000)]

    diff = unified("f", old, compare(old, new))

    assert len(diff.splitlines()) <= MAX_LINES + 3
    assert "more diff lines" in diff


def test_return_is_shown() -> None:
    """A change of line endings does not look like no change."""
    diff = unified("f", [b"a\r\n"], compare([b"a\r\n"], [b"a\n"]))

    assert "-a\u240d\n+a\n" in diff


def test_equal_texts_have_no_diff() -> None:
    """Nothing is shown for nothing."""
    assert unified("f", [b"a\n"], compare([b"a\n"], [b"a\n"])) == ""
