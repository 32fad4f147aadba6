import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bases import MOST_BYTES, Base, Bases

ONE = Base(b"one", 0o644, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
TWO = Base(b"zwei", 0o755, "28ba8f6ee5bd34bd3ca1d9a5f7e3fa50afa2a4d9a51f6c63b6c4b9ed6d5f6e58")


def test_bases_survive_the_process(tmp_path):
    """Added in two goes, found in a third."""
    first = Bases.load(tmp_path)
    first.add("a\udcff", ONE)
    first.save()
    second = Bases.load(tmp_path)
    second.add("b", ONE)
    second.save()

    third = Bases.load(tmp_path)

    assert third.find("a\udcff") == third.find("b") == ONE
    assert third.digest("b") == ONE.sha256
    assert third.find("c") is None


def test_forgotten_base_is_gone(tmp_path):
    """Host and box agree again: the old text would merge wrongly."""
    bases = Bases.load(tmp_path)
    bases.add("a", ONE)
    bases.forget(["a", "never there"])
    bases.save()

    assert Bases.load(tmp_path).find("a") is None


def test_damaged_content_is_no_base(tmp_path):
    """A wrong base would lose somebody's lines; none is only a conflict."""
    bases = Bases.load(tmp_path)
    bases.add("a", TWO)
    bases.save()

    assert Bases.load(tmp_path).find("a") is None


def test_large_text_is_not_kept(tmp_path):
    """What is never merged need not be kept."""
    bases = Bases.load(tmp_path)
    bases.add("a", Base(b"x" * (MOST_BYTES + 1), 0o644, ""))

    assert bases.digest("a") == ""


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}', '{"a": {"start": 1}}'])
def test_broken_record_says_so(tmp_path, text):
    """With the file and the way out."""
    (tmp_path / "bases.json").write_text(text)
    (tmp_path / "bases").write_bytes(b"")

    with pytest.raises(WorkspaceError, match=r"bases\.json") as caught:
        Bases.load(tmp_path)
    assert "remove this file" in caught.value.hint
