from __future__ import annotations

import pytest

from tests.support.boxed_files import BoxedFiles


def lines(data: dict) -> list[tuple[str, int]]:
    return [(match["path"], match["line"]) for match in data["matches"]]


def test_match_has_every_documented_field(box: BoxedFiles) -> None:
    """The shape is a contract with the host."""
    box.put("src/a.py", "one\ntwo\n")

    assert box.data("grep", pattern="tw.") == {
        "matches": [{"path": "src/a.py", "line": 2, "text": "two", "cut": False, "context": False}],
        "total": 1,
        "limited": False,
        "notes": [],
    }


def test_paths_start_at_the_workspace_wherever_the_search_does(box: BoxedFiles) -> None:
    """A path that is shown can be read."""
    box.put("src/deep/a.py", "two\n")

    assert lines(box.data("grep", "src/deep", pattern="two")) == [("src/deep/a.py", 1)]
    assert lines(box.data("grep", "src/deep/a.py", pattern="two")) == [("src/deep/a.py", 1)]


def test_paths_outside_of_the_workspace_are_absolute(box: BoxedFiles) -> None:
    """A read root is searched, too."""
    (box.library / "lib.h").write_text("two\n")

    assert lines(box.data("grep", box.library, pattern="two")) == [(f"{box.library}/lib.h", 1)]


def test_no_match_is_no_error(box: BoxedFiles) -> None:
    """Nothing found is an answer."""
    box.put("a", "x\n")

    assert box.data("grep", pattern="zzz")["matches"] == []


def test_ignored_files_are_left_out_and_dot_files_are_not(box: BoxedFiles) -> None:
    """As git sees the tree, with or without a repository."""
    box.put(".gitignore", "build/\n")
    box.put("build/a.txt", "word\n")
    box.put(".env.example", "word\n")
    box.put(".git/config", "word\n")

    assert lines(box.data("grep", pattern="word")) == [(".env.example", 1)]
    assert lines(box.data("grep", pattern="word", glob="*config")) == []


def test_glob_narrows_the_files(box: BoxedFiles) -> None:
    """Only what matches is searched."""
    box.put("a.py", "word\n")
    box.put("b.txt", "word\n")

    assert lines(box.data("grep", pattern="word", glob="*.py")) == [("a.py", 1)]


def test_glob_that_leaves_the_directory_is_refused(box: BoxedFiles) -> None:
    """A glob stays below path."""
    assert box.refusal("grep", pattern="x", glob="../*")[0] == "outside"


def test_literal_and_case_are_switches(box: BoxedFiles) -> None:
    """Both do what they say."""
    box.put("a", "a.c\nabc\nA.C\n")

    assert lines(box.data("grep", pattern="a.c")) == [("a", 1), ("a", 2)]
    assert lines(box.data("grep", pattern="a.c", literal=True)) == [("a", 1)]
    assert lines(box.data("grep", pattern="a.c", literal=True, ignore_case=True)) == [
        ("a", 1),
        ("a", 3),
    ]


def test_context_lines_are_marked_and_not_counted(box: BoxedFiles) -> None:
    """Lines around a match are no matches."""
    box.put("a", "1\n2\n3\n")

    data = box.data("grep", pattern="2", context=1)

    assert [(m["line"], m["context"]) for m in data["matches"]] == [
        (1, True),
        (2, False),
        (3, True),
    ]
    assert data["total"] == 1


def test_limit_is_told_only_when_more_was_there(box: BoxedFiles) -> None:
    """One match further is looked for before the list is called cut."""
    box.put("a", "x\n" * 5)

    assert box.data("grep", pattern="x", limit=5)["limited"] is False
    cut = box.data("grep", pattern="x", limit=4)
    assert (len(cut["matches"]), cut["limited"]) == (4, True)


def test_result_is_bounded_in_bytes(box: BoxedFiles) -> None:
    """Many long lines end the list early."""
    box.put("a", ("x" * 400 + "\n") * 1000)

    data = box.data("grep", pattern="x", limit=1000)

    assert sum(len(match["text"]) for match in data["matches"]) <= 40_000
    assert data["limited"] is True


def test_long_line_is_cut_around_its_match(box: BoxedFiles) -> None:
    """What matched is in what is shown."""
    box.put("a", "x" * 5000 + "needle" + "y" * 5000 + "\n")

    match = box.data("grep", pattern="needle")["matches"][0]

    assert "needle" in match["text"]
    assert (match["cut"], len(match["text"]), match["length"]) == (True, 500, 10_006)


def test_line_of_many_megabytes_is_passed_over_and_counted(box: BoxedFiles) -> None:
    """Memory is bounded, and the reader is told."""
    box.put("a", b"needle" + b"x" * 10_000_000 + b"\nneedle\n")

    data = box.data("grep", pattern="needle")

    assert lines(data) == [("a", 2)]
    assert "1 matching lines over" in data["notes"][0]


def test_wrong_expression_is_refused_with_the_reason(box: BoxedFiles) -> None:
    """The model learns what is wrong and how to search plain text."""
    box.put("a", "x")

    code, message = box.refusal("grep", pattern="(")

    assert code == "invalid"
    assert "unclosed group" in message
    assert "literal" in message


def test_odd_names_and_bytes_come_out_as_text(box: BoxedFiles) -> None:
    """Names are escaped, bad bytes replaced."""
    (box.workdir / "a\nb").write_bytes(b"x\xff\n")

    match = box.data("grep", pattern="x")["matches"][0]

    assert (match["path"], match["text"]) == (r"a\nb", "x\ufffd")


def test_configuration_is_not_taken_from_the_environment(
    box: BoxedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration could name a preprocessor; neither file nor variable is looked at."""
    box.put("config", "--replace=changed\n--glob=!a\n")
    box.put("a", "word\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(box.workdir / "config"))

    (match,) = box.data("grep", pattern="word")["matches"]

    assert (match["path"], match["text"]) == ("a", "word")


def test_empty_or_nul_pattern_is_refused(box: BoxedFiles) -> None:
    """A pattern is a line of text."""
    assert box.refusal("grep", pattern="")[0] == "invalid"
    assert box.refusal("grep", pattern="a\0b")[0] == "invalid"
