from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspace.folding import Heap, flagged, fold
from orchestrator.workspace.node import Change, Node

FILE = Node("file", 0o644, size=9)
PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


def added(*paths: str) -> list[Change]:
    return [Change(path, "added", None, FILE) for path in sorted(paths)]


def rows(*paths: str, most: int) -> list[str]:
    """Return each row as a text: a path, or a heap's place and number."""
    return [
        row.path
        if isinstance(row, Change)
        else f"{row.directory}/{'*' if row.only_here else ''}{'…' if row.others else ''}"
        f" {len(row.changes)}"
        for row in fold(added(*paths), most=most)
    ]


def line(name: str, reason: str) -> str:
    return f"{name}: {reason}"


def test_short_list_is_left_as_it_is():
    """One line a change."""
    assert rows("a", "b/c", most=2) == ["a", "b/c"]


def test_changes_beside_a_heap_are_named():
    """However large the heap is, and however deep it lies."""
    heap = [f"web/modules/m{n % 9}/f{n}" for n in range(5000)]

    assert rows("app.py", "web/index.js", *heap, most=5) == [
        "app.py",
        "web/index.js",
        "web/modules/ 5000",
    ]


def test_heap_beside_directories_is_told_apart_from_them():
    """The directories below it are spelled out while there is room."""
    heap = [f"out/f{n}" for n in range(100)]

    assert rows(*heap, "out/deep/one", "x", most=5) == ["out/* 100", "out/deep/one", "x"]


def test_top_with_too_many_directories_names_the_largest():
    """The rest is one number."""
    many = [f"d{n}/f" for n in range(1000)]
    found = rows(*many, *(f"big/f{n}" for n in range(500)), most=50)

    assert found[0] == "big/ 500"
    assert found[-1] == "/… 981"
    assert len(found) == 21


@given(st.sets(PATHS, min_size=1, max_size=60), st.integers(1, 40))
def test_every_change_is_in_one_row(paths, most):
    """Nothing is told twice, nothing is left out, and the list is as short as was asked for."""
    changes = added(*paths)
    found = fold(changes, most=most)

    told = [c for row in found for c in (row.changes if isinstance(row, Heap) else [row])]
    assert sorted(c.path for c in told) == [c.path for c in changes]
    assert len(found) <= max(most, 22)


def test_rare_dangers_are_named_before_common_ones():
    """One hook among a thousand build files stands first."""
    common = [(f"sub/d{n}/Makefile", "make runs it") for n in range(1000)]
    found = list(flagged([*common, (".hook", "git runs it")], most=10, line=line))

    assert found == [
        ".hook: git runs it",
        "sub/d0/Makefile: make runs it",
        "sub/d1/Makefile: make runs it",
        "sub/d2/Makefile: make runs it",
        "… and 997 more (997 in sub/): make runs it",
    ]


def test_too_many_reasons_are_counted():
    """The last line says how many are not named."""
    found = list(flagged([(f"f{n}", f"reason {n:03}") for n in range(100)], most=10, line=line))

    assert len(found) == 10
    assert found[0] == "f0: reason 000"
    assert found[-1] == "  … and 91 more, for other reasons"


def test_few_dangers_keep_their_order():
    """As the list of changes has them."""
    found = [("z", "one"), ("a", "two"), ("b", "two")]

    assert list(flagged(found, most=3, line=line)) == ["z: one", "a: two", "b: two"]
