"""Reading a stranger's tree on the host."""

import os

import pytest

from orchestrator.prompts.beneath import names_beneath, read_beneath, read_in


def test_a_file_is_read_up_to_its_limit_and_a_byte_more(tmp_path):
    """So that too much is known from just enough."""
    (tmp_path / "a").write_bytes(b"0123456789")

    assert read_beneath(tmp_path, "a", limit=20) == b"0123456789"
    assert read_beneath(tmp_path, "a", limit=3) == b"0123"
    assert read_beneath(tmp_path, "b", limit=3) is None


def test_a_link_within_the_folder_is_followed_once(tmp_path):
    """CLAUDE.md is often a link to AGENTS.md."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/real.md").write_text("x")
    (tmp_path / "a").symlink_to("docs/real.md")
    (tmp_path / "b").symlink_to("a")

    assert read_beneath(tmp_path, "a", limit=9) == b"x"
    with pytest.raises(OSError, match="no further link"):
        read_beneath(tmp_path, "b", limit=9)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret", "docs/../../secret"])
def test_a_link_out_is_not_followed(tmp_path, target):
    """A repository must not send a file of the host's to a provider."""
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (tmp_path / "secret").write_text("s")
    (project / "a").symlink_to(target)
    with pytest.raises(OSError, match="leads out"):
        read_beneath(project, "a", limit=9)


def test_a_linked_folder_on_the_way_is_not_followed(tmp_path):
    """The link's own folder may be one."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x").write_text("s")
    project = tmp_path / "project"
    project.mkdir()
    (project / "docs").symlink_to("../out")
    (project / "a").symlink_to("docs/x")
    with pytest.raises(OSError, match="no further link"):
        read_beneath(project, "a", limit=9)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        names_beneath(project, ["docs"])
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        read_in(project, ["docs"], "x", limit=9)


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_nothing_waits_on_what_is_no_file(tmp_path, kind):
    """A pipe without a writer would hold up for ever."""
    path = tmp_path / "a"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match=r"regular file|leads out"):
        read_beneath(tmp_path, "a", limit=9)


def test_names_are_sorted_and_a_missing_folder_has_none(tmp_path):
    """Order on disk is chance."""
    for name in "cab":
        (tmp_path / name).touch()

    assert names_beneath(tmp_path, []) == ["a", "b", "c"]
    assert names_beneath(tmp_path, ["none"]) == []


def test_folders_in_a_name_are_opened_one_by_one(tmp_path):
    """A link among them is not followed, and one at the end only within its own folder."""
    (tmp_path / "secret").write_text("s")
    project = tmp_path / "project"
    (project / "docs/deep").mkdir(parents=True)
    (project / "docs/deep/x").write_text("x")
    (project / "docs/near").symlink_to("deep/x")
    (project / "docs/far").symlink_to("../../secret")
    (project / "linked").symlink_to("docs")
    (project / "out").symlink_to("..")

    assert read_beneath(project, "docs/deep/x", limit=9) == b"x"
    assert read_in(project, ["docs"], "deep/x", limit=9) == b"x"
    assert read_beneath(project, "docs/near", limit=9) == b"x"
    assert read_beneath(project, "docs/none/x", limit=9) is None
    with pytest.raises(OSError, match="leads out"):
        read_beneath(project, "docs/far", limit=9)
    for name in ("linked/deep/x", "out/secret"):
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            read_beneath(project, name, limit=9)
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            read_in(project, [], name, limit=9)


@pytest.mark.parametrize(
    "name", ["../secret", "docs/../../secret", "/etc/passwd", "docs/", "", "."]
)
def test_name_that_is_none_below_is_refused(tmp_path, name):
    """Whatever it would lead to."""
    (tmp_path / "secret").write_text("s")
    (tmp_path / "project/docs").mkdir(parents=True)

    for read in (read_beneath, lambda root, name, limit: read_in(root, [], name, limit=limit)):
        with pytest.raises(OSError, match="below the folder"):
            read(tmp_path / "project", name, limit=9)
    with pytest.raises(OSError, match="below the folder"):
        names_beneath(tmp_path / "project", [".."])
