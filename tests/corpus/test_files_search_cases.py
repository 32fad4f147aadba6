"""The corpus's grep and find cases; each function's name begins with the case's id."""

from __future__ import annotations

import pytest
from grep import MAX_WIDTH

from tests.support.boxed_files import BoxedFiles


def found(box: BoxedFiles, pattern: str, **fields: object) -> list[str]:
    return [match["text"] for match in box.data("grep", pattern=pattern, **fields)["matches"]]


@pytest.mark.parametrize("option", ["--pre=./x.sh", "--pre ./x.sh", "--search-zip"])
def test_files_grep_01_option_in_the_pattern_starts_nothing(box: BoxedFiles, option: str) -> None:
    script = box.put("x.sh", "#!/bin/sh\ntouch started\n")
    script.chmod(0o755)
    box.put("a.txt", f"see {option} here\n")

    assert found(box, option) == [f"see {option} here"]
    assert not (box.workdir / "started").exists()


def test_files_grep_02_help_is_text(box: BoxedFiles) -> None:
    box.put("a.txt", "usage: app --help\n")

    assert found(box, "--help") == ["usage: app --help"]


@pytest.mark.parametrize("pattern", ["-world", "-f/etc/passwd", "-e", "--"])
def test_files_grep_03_leading_dash_is_text(box: BoxedFiles, pattern: str) -> None:
    box.put("a.txt", f"hello {pattern}\n")

    assert found(box, pattern) == [f"hello {pattern}"]


def test_files_grep_05_long_line_is_cut_and_marked(box: BoxedFiles) -> None:
    box.put("bundle.js", b"var a=1;" * 81_250 + b"needle" + b"x" * 100 + b"\n")

    (match,) = box.data("grep", pattern="needle")["matches"]

    assert match["cut"] is True
    assert match["length"] == 650_106
    assert len(match["text"]) == MAX_WIDTH
    assert "needle" in match["text"]


def test_files_grep_07_nested_repeats_are_answered(box: BoxedFiles) -> None:
    box.put("a.txt", "a" * 60 + "X\n")

    assert found(box, "(a+)+$") == []


def test_files_grep_10_links_that_leave_are_not_followed(box: BoxedFiles) -> None:
    (box.outside / "passwd").write_text("root:x:0\n")
    (box.workdir / "link").symlink_to(box.outside)
    (box.workdir / "file").symlink_to(box.outside / "passwd")

    assert found(box, "root") == []
    assert box.refusal("grep", "link", pattern="root")[0] == "outside"
    assert box.refusal("grep", "file", pattern="root")[0] == "outside"


@pytest.mark.parametrize("before", range(4))
def test_files_grep_12_cut_is_valid_text(box: BoxedFiles, before: int) -> None:
    box.put("a.txt", "x" * before + "\U0001f600" * 2000 + "needle" + "\U0001f600" * 2000 + "\n")

    (text,) = found(box, "needle")

    assert "\ufffd" not in text
    assert text.encode().decode() == text


def test_files_find_01_newline_in_a_name_is_one_entry(box: BoxedFiles) -> None:
    box.put("a\nrm -rf b", "x")

    data = box.data("find", pattern="*")

    assert data["paths"] == [r"a\nrm -rf b"]
    assert data["total"] == 1


def test_files_find_02_terminal_sequences_are_escaped(box: BoxedFiles) -> None:
    box.put("\x1b[2J", "x")
    box.put("\x1b]8;;http:\x07", "x")

    names = [entry["name"] for entry in box.data("ls")["entries"]]

    assert names == [r"\x1b[2J", r"\x1b]8;;http:\x07"]


def test_files_find_03_name_that_is_no_text_comes_back(box: BoxedFiles) -> None:
    (box.workdir / b"odd\xff\\name".decode("utf-8", "surrogateescape")).write_text("content")

    (entry,) = box.data("ls")["entries"]

    assert entry["name"] == r"odd\xff\\name"
    assert box.data("read", entry["name"])["text"] == "content"
    box.edit(entry["name"], ("content", "changed"))
    assert box.data("find", pattern="odd*")["paths"] == [entry["name"]]
    assert box.data("write", entry["name"], content="whole")["created"] is False


def test_files_find_06_names_a_host_may_merge_are_noted(box: BoxedFiles) -> None:
    box.put("README.md", "1")
    box.put("Readme.md", "2")

    data = box.data("ls")

    assert [entry["name"] for entry in data["entries"]] == ["README.md", "Readme.md"]
    assert "README.md and Readme.md differ only in case" in data["notes"][0]


@pytest.mark.parametrize("pattern", ["../**", "a/../../**", "{..,a}/**", "/etc/*"])
def test_files_find_07_pattern_that_leaves_is_refused(box: BoxedFiles, pattern: str) -> None:
    assert box.refusal("find", pattern=pattern)[0] == "outside"


def test_files_find_08_link_to_its_own_parent_ends(box: BoxedFiles) -> None:
    box.put("d/a.txt", "x")
    (box.workdir / "d" / "up").symlink_to("..")

    assert box.data("find", pattern="**")["paths"] == ["d/", "d/a.txt"]
