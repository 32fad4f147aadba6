"""Access lists and extended attributes through a box and an apply."""

import os
import struct

import pytest

from orchestrator.workspace.attributes import keep_attributes
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import give, play_box

# An access list as the kernel stores it: version, then (tag, rights, id) each.
ANY = 0xFFFFFFFF
LIST = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", *entry)
    for entry in ((1, 6, ANY), (2, 4, 4321), (4, 4, ANY), (16, 4, ANY), (32, 0, ANY))
)
NAME = "system.posix_acl_access"


@pytest.fixture
def listed(project):
    """A project whose app.py another user may read; skipped where no file can have a list."""
    path = project / "app.py"
    try:
        os.setxattr(path, NAME, LIST)
    except OSError as err:
        pytest.skip(f"this file system takes no access lists: {err}")
    os.setxattr(path, "user.origin", b"mine")
    give(project)
    return path


@pytest.mark.docker
def test_person_s_own_attributes_survive_an_apply(any_desk, listed):
    """The content is the box's, who may read it is still the person's choice."""
    any_desk.take(any_desk.work("echo two > app.py"))

    assert listed.read_text() == "two\n"
    assert os.getxattr(listed, NAME) == LIST
    assert os.getxattr(listed, "user.origin") == b"mine"


@pytest.mark.docker
def test_attributes_of_the_box_stay_in_it(any_desk, project, sandbox_image):
    """A new file comes with content and permission bits alone."""
    python = "import os; open('new','w').write('x'); os.setxattr('new','user.evil',b'1')"
    workspace, prepared = any_desk.begin()
    show = f"python3 -c \"{python}; print(os.listxattr('new'))\""
    assert "user.evil" in play_box(any_desk.engine, prepared, show, image=sandbox_image)

    any_desk.take(workspace)

    assert (project / "new").exists()
    assert os.listxattr(project / "new") == []


def test_nothing_is_copied_from_what_is_no_file(tmp_path):
    """A link's target is somebody else's."""
    (tmp_path / "target").touch()
    os.setxattr(tmp_path / "target", "user.a", b"1")
    (tmp_path / "link").symlink_to("target")
    new = os.open(tmp_path / "new", os.O_CREAT | os.O_WRONLY)
    try:
        with open_tree(tmp_path) as tree:
            keep_attributes(tree, "link", new)
            keep_attributes(tree, "absent", new)
            assert os.listxattr(new) == []
            keep_attributes(tree, "target", new)
            assert os.getxattr(new, "user.a") == b"1"
    finally:
        os.close(new)
