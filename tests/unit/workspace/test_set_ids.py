"""Programs with set-id bits that came during a session are told of."""

import os

from orchestrator.workspace.set_ids import set_id_notes
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import nest, write


def told(root, since_ns):
    with open_tree(root) as tree:
        return list(set_id_notes(tree, since_ns=since_ns))


def test_only_files_that_have_the_bits_since_then(tmp_path):
    """A directory's set-group-id bit hands its group on and nothing else."""
    write(tmp_path, {"old": "", "deep/user": "", "group": "", "plain": ""})
    (tmp_path / "old").chmod(0o4755)
    since = (tmp_path / "old").stat().st_ctime_ns
    while (tmp_path / "plain").stat().st_ctime_ns <= since:
        (tmp_path / "plain").chmod(0o777)
    (tmp_path / "deep/user").chmod(0o6755)
    (tmp_path / "group").chmod(0o2755)
    (tmp_path / "deep").chmod(0o2755)

    notes = told(tmp_path, since)

    ids = f"{os.geteuid()}:{os.getegid()}"
    assert sorted(note.partition(" (")[0] for note in notes) == [
        "deep/user: set-user-id since the session began",
        "group: set-group-id since the session began",
    ]
    assert all(f"the rights of {ids};" in note for note in notes)


def test_flood_is_counted_and_a_bottomless_directory_passed(tmp_path):
    """A box cannot spoil the telling."""
    for number in range(30):
        (tmp_path / f"s{number:02}").touch()
        (tmp_path / f"s{number:02}").chmod(0o4755)
    nest(tmp_path)

    notes = told(tmp_path, 0)

    assert len(notes) == 21
    assert notes[-1] == "and 10 more files with set-id bits"
