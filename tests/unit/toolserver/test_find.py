from __future__ import annotations

from tests.support.boxed_files import BoxedFiles


def test_files_and_directories_come_in_path_order(box: BoxedFiles) -> None:
    """A directory stands before what is in it and ends with a slash."""
    for name in ("src/b.py", "src/a/c.py", "README.md"):
        box.put(name, "")

    assert box.data("find", pattern="**") == {
        "paths": ["README.md", "src/", "src/a/", "src/a/c.py", "src/b.py"],
        "total": 5,
        "limited": False,
        "notes": [],
    }


def test_pattern_is_relative_to_path_and_results_to_the_workspace(box: BoxedFiles) -> None:
    """A path that is shown can be read."""
    box.put("src/a/c.py", "")
    box.put("src/d.py", "")

    assert box.data("find", "src", pattern="a/*.py")["paths"] == ["src/a/c.py"]


def test_ignored_files_are_left_out_even_for_a_wide_pattern(box: BoxedFiles) -> None:
    """A pattern selects among what is not ignored."""
    box.put(".gitignore", "node_modules/\n*.log\n")
    box.put("node_modules/x/index.js", "")
    box.put("a.log", "")
    box.put("a.js", "")
    box.put(".git/HEAD", "")

    assert box.data("find", pattern="*")["paths"] == [".gitignore", "a.js"]
    assert box.data("find", pattern="*.log")["paths"] == []


def test_links_are_not_followed(box: BoxedFiles) -> None:
    """A link is another place's name."""
    (box.outside / "secret.py").write_text("")
    (box.workdir / "out").symlink_to(box.outside)
    (box.workdir / "self").symlink_to(".")
    box.put("a.py", "")

    assert box.data("find", pattern="*.py")["paths"] == ["a.py"]


def test_limit_and_bytes_are_bounds(box: BoxedFiles) -> None:
    """A cut list says so."""
    for number in range(400):
        box.put(f"{number:03}" + "n" * 150, "")

    cut = box.data("find", pattern="*", limit=10)
    full = box.data("find", pattern="*", limit=5000)

    assert (len(cut["paths"]), cut["limited"]) == (10, True)
    assert sum(map(len, full["paths"])) <= 40_000
    assert full["limited"] is True


def test_file_as_path_is_refused(box: BoxedFiles) -> None:
    """There is nothing below a file."""
    box.put("a", "")

    assert box.refusal("find", "a", pattern="*")[0] == "not_regular"
