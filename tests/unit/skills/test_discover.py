"""Finding skills: which one holds, what is wrong with the others, and no way out of a project."""

import os

import pytest

from orchestrator.errors import SkillError
from orchestrator.skills.discover import SHIPPED, Root, discover
from orchestrator.skills.folder import MAX_FILES, FolderError, find_folders

from .conftest import TOOLS


def put(root, name, *, description="Tidies up.", **files):
    folder = root / name
    folder.mkdir(parents=True)
    text = f"---\nname: {folder.name}\ndescription: {description}\n---\nSweep.\n"
    (folder / "SKILL.md").write_text(text)
    for path, content in files.items():
        (folder / path.replace("__", ".")).write_text(content)
    return folder


def find(*roots):
    return discover([Root(path, scope) for path, scope in roots], tools=TOOLS)


def test_shipped_skills_have_nothing_wrong():
    found = find((SHIPPED, "shipped"))

    assert list(found.skills) == ["commit-message", "debug", "review"]
    assert (found.errors, found.warnings) == ((), ())
    assert found.get("review").source == "shipped:review/SKILL.md"


def test_later_places_win_and_it_is_told(tmp_path):
    put(tmp_path / "user", "tidy", description="the user's")
    put(tmp_path / "project", "group/tidy", description="the project's")
    found = find(
        (tmp_path / "user", "user"), (tmp_path / "project", "project"), (tmp_path / "no", "user")
    )

    assert found.get("tidy").description == "the project's"
    assert "takes the place of the user skill" in found.warnings[0]


def test_one_that_is_broken_hides_no_other(tmp_path):
    put(tmp_path, "good")
    put(tmp_path, "bad", description="''")
    (put(tmp_path, "bytes") / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    found = find((tmp_path, "user"))

    assert list(found.skills) == ["good"]
    assert [line.split(": ")[0] for line in found.errors] == [
        f"{tmp_path}/bad/SKILL.md:3",
        f"{tmp_path}/bytes/SKILL.md:2",
    ]
    with pytest.raises(SkillError, match=r"bad/SKILL\.md:3"):
        found.get("bad")
    with pytest.raises(SkillError, match="did you mean good"):
        found.get("goood")


def test_one_that_is_broken_hides_the_earlier_of_its_name(tmp_path):
    """Else rules that a person wrote would give way to looser ones without a word."""
    put(tmp_path / "a", "review")
    put(tmp_path / "b", "review", description="''")
    broken = find((tmp_path / "a", "user"), (tmp_path / "b", "user"))
    put(tmp_path / "c", "review")
    mended = find((tmp_path / "a", "user"), (tmp_path / "b", "user"), (tmp_path / "c", "user"))

    assert (list(broken.skills), list(broken.faults)) == ([], [str(tmp_path / "b/review")])
    with pytest.raises(SkillError, match="cannot be used"):
        broken.get("review")
    assert list(mended.skills) == ["review"]


def test_files_come_along_and_hidden_ones_do_not(tmp_path):
    """What is in them makes the digest; a reference that lacks is told."""
    folder = put(tmp_path, "tidy", run__sh="echo", __env="SECRET=1")
    (folder / "run.sh").chmod(0o755)
    first = find((tmp_path, "user"))
    (folder / "run.sh").write_text("echo 2")
    second = find((tmp_path, "user"))

    assert [(f.path, f.executable) for f in first.get("tidy").files] == [
        ("SKILL.md", False),
        ("run.sh", True),
    ]
    assert first.digest != second.digest


@pytest.mark.parametrize("scope", ["project", "user"])
def test_links_lead_out_of_no_project(tmp_path, scope):
    """The user's own folder may be linked to; a project's link is a mistake that is told."""
    (tmp_path / "secret").write_text("host secret")
    outside = put(tmp_path / "elsewhere", "linked")
    root = tmp_path / "skills"
    folder = put(root, "tidy")
    (folder / "notes.txt").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(outside)
    found = find((root, scope))

    if scope == "user":
        assert sorted(found.skills) == ["linked", "tidy"]
    else:
        assert not found.skills
        assert "notes.txt: cannot be read" in found.errors[0]
    whole = tmp_path / "whole"
    whole.symlink_to(root)
    assert bool(find((whole, scope)).skills) is (scope == "user")


def test_what_is_no_file_or_too_much_is_told(tmp_path):
    os.mkfifo(put(tmp_path, "pipe") / "fifo")
    many = put(tmp_path, "many")
    for number in range(MAX_FILES):
        (many / f"f{number}").write_text("")
    loop = put(tmp_path, "loop")
    (loop / "again").symlink_to(loop)
    problems = {item.path.name: item.problem for item in find_folders(tmp_path, links=True)}

    assert "expected a regular file" in problems["pipe"]
    assert "got more" in problems["many"]
    assert problems["loop"]
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="expected a folder"):
        list(find_folders(tmp_path / "file", links=True))
