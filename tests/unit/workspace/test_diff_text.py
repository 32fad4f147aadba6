import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.workspace.diff_text import Texts, count_lines, patch_lines
from orchestrator.workspace.node import Change, Node

FILE = Node("file", 0o644)


def patch(change: Change, old: bytes | None, new: bytes | None, why_not: str = "") -> list[str]:
    return list(patch_lines(change, Texts(old, new, why_not)))


def test_modification_reads_like_a_unified_diff():
    """Header, names, range and lines."""
    change = Change("a", "modified", FILE, FILE)

    assert patch(change, b"1\n2\n3\n4\n5\n6\n", b"1\n2\n3\n4\nfive\n6\n") == [
        "diff --git a/a b/a",
        "--- a/a",
        "+++ b/a",
        "@@ -2,5 +2,5 @@",
        " 2",
        " 3",
        " 4",
        "-5",
        "+five",
        " 6",
    ]


def test_addition_deletion_mode_and_move_have_their_headers():
    """As patch tools know them."""
    moved = Change("b", "added", None, FILE, renamed_from="a")
    script = Node("file", 0o755)

    assert "new file mode 100644" in patch(Change("a", "added", None, FILE), b"", b"x\n")
    assert "deleted file mode 100644" in patch(Change("a", "deleted", FILE, None), b"x\n", b"")
    assert patch(Change("a", "mode", FILE, script), b"", b"")[1:] == [
        "old mode 100644",
        "new mode 100755",
    ]
    assert patch(moved, b"", b"x")[-2:] == ["rename from a", "rename to b"]


def test_missing_line_end_is_told():
    """On the side where it is missing."""
    lines = patch(Change("a", "modified", FILE, FILE), b"x", b"x\n")

    assert lines[-3:] == ["-x", "\\ No newline at end of file", "+x"]


def test_reason_stands_in_for_what_is_not_shown():
    """Binary contents are named, not printed."""
    lines = patch(Change("a", "modified", FILE, FILE), None, None, "binary")

    assert lines[-1] == "a/a and b/a differ: binary"


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c d\n"]), max_size=40).map(b"".join)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES, st.booleans())
def test_patch_tool_turns_the_old_text_into_the_new(tmp_path_factory, old, new, cut):
    """The patch is exact for any two texts, with a line end at the end or without."""
    new = new.removesuffix(b"\n") if cut else new
    folder = tmp_path_factory.mktemp("patch")
    (folder / "a").write_bytes(old)
    lines = patch(Change("a", "modified", FILE, FILE), old, new)
    text = "".join(f"{line}\n" for line in lines).encode()
    if len(lines) > 1:
        run = subprocess.run(
            ["patch", "-s", "-p1", "a"], input=text, cwd=folder, capture_output=True, check=False
        )
        assert run.returncode == 0, (run.stdout, text)
    assert ((folder / "a").read_bytes() if (folder / "a").exists() else b"") == new


@pytest.mark.timeout(20)
def test_hostile_texts_are_compared_in_short_time():
    """A region that is too large is shown as replaced whole, and the patch still holds."""
    old, new = b"a\nb\n" * 9000, b"b\nc\na\n" * 6000
    texts = Texts(b"head\n" + old + b"tail\n", b"head\n" + new + b"tail\n")

    assert count_lines(texts) == (18000, 18000)
