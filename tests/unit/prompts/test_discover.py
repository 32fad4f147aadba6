"""Finding AGENTS.md and its kin."""

import os

import pytest

from orchestrator.prompts.discover import CUT, MOST_BYTES, MOST_FOLDERS, MOST_NESTED, find_files


@pytest.fixture
def nest(tmp_path):
    """Directories a/b/c, the nearest first."""
    nearest = tmp_path / "a" / "b" / "c"
    nearest.mkdir(parents=True)
    return [nearest, nearest.parent, nearest.parent.parent]


def test_the_nearest_stands_last_and_paths_start_at_the_directory(nest):
    """Later words hold."""
    for number, directory in enumerate(nest):
        (directory / "AGENTS.md").write_text(f"level {number}")
    found = find_files(nest)

    assert [(file.name, file.text) for file in found.files] == [
        ("../../AGENTS.md", "level 2"),
        ("../AGENTS.md", "level 1"),
        ("AGENTS.md", "level 0"),
    ]
    assert found.notes == ()


def test_one_file_a_directory_by_preference(nest):
    """Many projects keep the same words under two names."""
    for name in ("CLAUDE.md", "AGENTS.md"):
        (nest[0] / name).write_text(name)
    (nest[1] / "CLAUDE.md").write_text("\ufeffclaude")
    (nest[2] / "AGENTS.override.md").write_text("override")
    (nest[2] / "AGENTS.md").write_text("x")

    assert [file.text for file in find_files(nest).files] == ["override", "claude", "AGENTS.md"]


def test_a_link_out_is_told_and_the_next_name_is_read(nest, tmp_path):
    """A secret of the host's does not go to a provider."""
    (tmp_path / "secret").write_text("s3cret")
    (nest[0] / "AGENTS.md").symlink_to(tmp_path / "secret")
    (nest[0] / "CLAUDE.md").write_text("mine")
    found = find_files(nest)

    assert [file.text for file in found.files] == ["mine"]
    assert "leads out of its folder" in found.notes[0]


def test_pipes_and_binaries_are_left_out_and_told(nest):
    """Nothing waits, and no noise is sent."""
    os.mkfifo(nest[0] / "AGENTS.md")
    (nest[1] / "AGENTS.md").write_bytes(b"a\0b")
    found = find_files(nest)

    assert found.files == ()
    assert len(found.notes) == 2


def test_a_long_file_is_cut_at_a_line_and_that_is_told(nest):
    """To the model and to the person."""
    (nest[0] / "AGENTS.md").write_text("é" * 9 + "\n" + ("line\n" * 10_000))
    (file,) = (found := find_files(nest)).files

    assert file.text.endswith("line" + CUT)
    assert len(file.text.encode()) <= MOST_BYTES + len(CUT.encode())
    assert "too long" in found.notes[0]


def test_the_nearest_come_first_where_all_are_too_long(nest):
    """The farthest is what is left out."""
    for number, directory in enumerate(nest):
        (directory / "AGENTS.md").write_text(f"{number}\n" * (MOST_BYTES // 2))
    found = find_files(nest)

    assert [file.text[0] for file in found.files] == ["1", "0"]
    assert "the nearer ones fill it" in found.notes[-1]


def test_what_policy_hides_is_not_shown(nest):
    """The prompt is no way around the gate; a second name is not tried for the first."""
    (nest[0] / "AGENTS.md").write_text("hidden")
    (nest[0] / "CLAUDE.md").write_text("also")
    found = find_files(nest, may_read=lambda path: path != "AGENTS.md")

    assert found.files == ()
    assert "policy hides it" in found.notes[0]


def test_deeper_ones_are_named_and_not_read(nest):
    """Other repositories, dependencies and hidden folders are none of the project's."""
    for folder in ("app", "app/web", "node_modules/x", ".cache", "other"):
        (nest[0] / folder).mkdir(parents=True, exist_ok=True)
        (nest[0] / folder / "AGENTS.md").write_text("x")
    (nest[0] / "other/.git").write_text("gitdir: elsewhere")
    (nest[0] / "linked").symlink_to(nest[0] / "app")

    assert find_files(nest).nested == ("app/AGENTS.md", "app/web/AGENTS.md")


def test_the_list_of_deeper_ones_ends(nest):
    """However large the tree is."""
    for number in range(MOST_NESTED + 5):
        (nest[0] / f"d{number:02}").mkdir()
        (nest[0] / f"d{number:02}/AGENTS.md").touch()

    assert len(find_files(nest).nested) == MOST_NESTED


def test_the_walk_ends_in_a_tree_without_end(nest):
    """What lies beyond the number of folders is not named; what lies near is."""
    for number in range(MOST_FOLDERS):
        (nest[0] / f"d{number:04}").mkdir()
    for name in ("d0000", f"d{MOST_FOLDERS - 1:04}"):
        (nest[0] / name / "AGENTS.md").touch()

    assert find_files(nest).nested == ("d0000/AGENTS.md",)
