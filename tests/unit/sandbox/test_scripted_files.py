import pytest

from orchestrator.sandbox.scripted_files import MemoryFiles
from orchestrator.schema.request import (
    EditRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    Replacement,
)


@pytest.fixture
def files():
    return MemoryFiles({"/w/a.txt": "1\n2\n3\n", "/w/d/b.txt": "", "/w/d/c.md": "Two\n"}, root="/w")


def test_read_goes_on_where_it_stopped(files):
    """A window says where the next one begins."""
    first = files.handle(ReadRequest("/w/a.txt", limit=2)).data
    rest = files.handle(ReadRequest("/w/a.txt", offset=first["next_offset"])).data

    assert (first["text"], first["next_offset"]) == ("1\n2", 3)
    assert (rest["text"], rest["next_offset"]) == ("3", None)


def test_empty_file_and_offset_past_the_end_are_told(files):
    """As the real box tells them."""
    assert files.handle(ReadRequest("/w/d/b.txt")).data == {"type": "empty"}
    assert files.handle(ReadRequest("/w/a.txt", offset=9)).code == "invalid"


def test_edits_are_all_or_none(files):
    """A second edit that fits nowhere leaves the first undone."""
    edits = (Replacement("1", "one"), Replacement("9", "nine"))

    assert files.handle(EditRequest("/w/a.txt", edits)).code == "no_match"
    assert files.files["/w/a.txt"] == "1\n2\n3\n"


def test_directories_are_implied(files):
    """A file's folders are there because it is."""
    names = [(e["name"], e["type"]) for e in files.handle(ListRequest("/w")).data["entries"]]

    assert names == [("a.txt", "file"), ("d", "directory")]
    assert files.handle(ListRequest("/w/none")).code == "not_found"


def test_search_respects_its_options(files):
    """Case, literal patterns and limits."""
    assert files.handle(GrepRequest("two", "/w", ignore_case=True)).data["total"] == 1
    assert files.handle(GrepRequest(".", "/w", literal=True)).data["total"] == 0
    assert files.handle(GrepRequest("[0-9]", "/w", limit=2)).data["limited"] is True
    assert files.handle(FindRequest("*.txt", "/w")).data["paths"] == ["a.txt", "d/b.txt"]
