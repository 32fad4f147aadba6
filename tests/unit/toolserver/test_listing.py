from __future__ import annotations

import os

from tests.support.boxed_files import BoxedFiles


def test_entries_have_type_and_size_in_order(box: BoxedFiles) -> None:
    """Sorted without regard to case, dot files included."""
    box.put("b.txt", "12345")
    box.put("A.txt", "1")
    box.put(".hidden", "")
    box.put("dir/x", "")
    (box.workdir / "link").symlink_to("b.txt")
    os.mkfifo(box.workdir / "pipe")

    data = box.data("ls")

    assert data["entries"] == [
        {"name": ".hidden", "type": "file", "size": 0},
        {"name": "A.txt", "type": "file", "size": 1},
        {"name": "b.txt", "type": "file", "size": 5},
        {"name": "dir", "type": "directory", "size": 0},
        {"name": "link", "type": "link", "size": 5, "target": "b.txt"},
        {"name": "pipe", "type": "a named pipe", "size": 0},
    ]
    assert (data["total"], data["limited"], data["notes"]) == (6, False, [])


def test_limit_keeps_the_first_in_order_and_tells_the_total(box: BoxedFiles) -> None:
    """Cutting comes after sorting."""
    for name in "dbcae":
        box.put(name, "")

    data = box.data("ls", limit=2)

    assert [entry["name"] for entry in data["entries"]] == ["a", "b"]
    assert (data["total"], data["limited"]) == (5, True)


def test_result_is_bounded_in_bytes(box: BoxedFiles) -> None:
    """Long names end the list early."""
    for number in range(600):
        box.put(f"{number:03}" + "n" * 200, "")

    data = box.data("ls", limit=2000)

    assert sum(len(entry["name"]) for entry in data["entries"]) <= 40_000
    assert (data["total"], data["limited"]) == (600, True)


def test_names_that_differ_in_spelling_form_are_noted(box: BoxedFiles) -> None:
    """Composed and decomposed names are two here and one elsewhere."""
    box.put("caf\u00e9", "")
    box.put("cafe\u0301", "")

    (note,) = box.data("ls")["notes"]

    assert r"cafe\u0301" in note
    assert "caf\u00e9" in note


def test_link_target_is_escaped(box: BoxedFiles) -> None:
    """A target is a name like others."""
    (box.workdir / "link").symlink_to("a\x1b[2J")

    assert box.data("ls")["entries"][0]["target"] == r"a\x1b[2J"


def test_file_and_missing_directory_are_distinct(box: BoxedFiles) -> None:
    """The next step differs."""
    box.put("a", "")

    assert box.refusal("ls", "a")[0] == "not_regular"
    assert box.refusal("ls", "b")[0] == "not_found"


def test_empty_directory_has_no_entries(box: BoxedFiles) -> None:
    """Nothing there is an answer."""
    assert box.data("ls")["entries"] == []
