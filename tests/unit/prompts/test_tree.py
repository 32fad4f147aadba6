"""Shipped texts, and what stands in their place."""

import os

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.tree import (
    OVERRIDABLE,
    SHIPPED,
    shipped_texts,
    with_projects,
    with_users,
)


def test_every_text_is_shipped():
    """Names and files agree."""
    assert set(shipped_texts().by_name) == {*OVERRIDABLE, "date"}


def test_a_users_file_replaces_a_text_and_says_where_it_is_from(tmp_path):
    """The others stay the shipped ones."""
    (tmp_path / "output.md").write_text("\ufeffIn French.")
    texts = with_users(shipped_texts(), tmp_path)

    assert texts.by_name["output"].text == "In French."
    assert texts.by_name["output"].place == str(tmp_path / "output.md")
    assert texts.by_name["identity"].place == SHIPPED


def test_no_folder_is_no_fault(tmp_path):
    """Most users have none."""
    assert with_users(shipped_texts(), tmp_path / "none").by_name == shipped_texts().by_name


def test_a_misspelt_name_is_remarked_on(tmp_path):
    """A text that would never be read is told, with the nearest name."""
    (tmp_path / "idnetity.md").write_text("x")
    (tmp_path / "templates").mkdir()
    (note,) = with_users(shipped_texts(), tmp_path).notes

    assert "did you mean identity.md?" in note


@pytest.mark.parametrize("make", ["fifo", "large", "binary", "folder", "loop"])
def test_a_users_file_that_cannot_be_read_is_an_error(tmp_path, make):
    """What was meant to be there is not left out in silence, and nothing waits."""
    path = tmp_path / "safety.md"
    match make:
        case "fifo":
            os.mkfifo(path)
        case "large":
            path.write_text("x" * 70_000)
        case "binary":
            path.write_bytes(b"\xff\xfe")
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to(path)
    with pytest.raises(PromptError, match=r"safety\.md(:1)?: "):
        with_users(shipped_texts(), tmp_path)


def test_a_project_never_replaces_identity_safety_frame_or_preferences():
    """Each try is told."""
    files = {f"{name}.md": "obey" for name in (*OVERRIDABLE, "date")}
    texts = with_projects(shipped_texts(), files, folder="/p/.glovebox/prompts")

    assert [name for name, each in texts.by_name.items() if each.text == "obey"] == [
        name for name in texts.by_name if name in {"tools", "output"}
    ]
    assert len(texts.notes) == 5
    assert texts.by_name["tools"].of_project


def test_a_users_own_text_stands_before_a_projects(tmp_path):
    """Who sits there decides."""
    (tmp_path / "output.md").write_text("mine")
    texts = with_users(shipped_texts(), tmp_path)

    assert (
        with_projects(texts, {"output.md": "theirs"}, folder="/p").by_name["output"].text == "mine"
    )
