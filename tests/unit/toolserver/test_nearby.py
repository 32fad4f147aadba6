from __future__ import annotations

from tests.support.boxed_files import BoxedFiles


def test_missing_file_names_the_directory_that_exists(box: BoxedFiles) -> None:
    """The message says how far the path is right."""
    box.put("src/main.py", "x")

    code, message = box.refusal("read", "src/zzzz.txt")

    assert code == "not_found"
    assert f"{box.workdir}/src exists" in message


def test_misspelt_name_is_suggested(box: BoxedFiles) -> None:
    """One close name is one suggestion."""
    box.put("src/settings.py", "x")

    assert f"did you mean {box.workdir}/src/settings.py" in box.refusal("read", "src/setings.py")[1]


def test_misspelt_directory_is_suggested_with_the_rest(box: BoxedFiles) -> None:
    """The rest of the path is kept."""
    box.put("source/deep/a.py", "x")

    assert f"{box.workdir}/source/deep/a.py" in box.refusal("read", "sourc/deep/a.py")[1]


def test_two_candidates_give_no_suggestion(box: BoxedFiles) -> None:
    """A guess between two is no help."""
    box.put("test_one.py", "x")
    box.put("test_ono.py", "x")

    assert "did you mean" not in box.refusal("read", "test_on.py")[1]


def test_suggestion_is_never_read(box: BoxedFiles) -> None:
    """No operation falls back to another file."""
    box.put("a.txt", "content")

    for kind in ("read", "ls", "grep", "find"):
        assert box.refusal(kind, "A.txt", pattern="x")[0] == "not_found"
