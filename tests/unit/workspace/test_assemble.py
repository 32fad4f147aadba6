import pytest

from orchestrator.workspace.assemble import assemble
from orchestrator.workspace.conflicts import SinceStart
from orchestrator.workspace.node import Limits, Node, Observed
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import open_tree
from tests.support.workspaces import write

FILE = Node("file", 0o644, size=1, sha256="x")
DIRECTORY = Node("directory", 0o755)


@pytest.fixture
def assembled(tmp_path):
    def run(observed: Observed):
        record = WorkspaceRecord(
            session="0" * 12,
            mode="overlay",
            directory=str(tmp_path),
            inode=1,
            uid=1,
            gid=1,
            volume="v",
            image="i",
            started_ns=1 << 62,
            protected=(".envrc",),
            hidden=("**/.env",),
            disk_bytes=1,
        )
        with open_tree(tmp_path) as tree:
            baseline = SinceStart(1 << 62, frozenset(), {})
            return assemble(record, observed, tree, baseline=baseline, limits=Limits())

    return run


def test_changes_are_judged_by_the_records_rules(assembled):
    """Those of the policy under which the session ran."""
    found = assembled(Observed({}, {".envrc": FILE, "a/.env": FILE}, inside_git=2))

    assert [(c.path, c.protected, bool(c.refused)) for c in found.changes] == [
        (".envrc", True, False),
        ("a/.env", False, True),
    ]
    assert found.inside_git == 2


def test_directory_that_keeps_something_unseen_stays(assembled, tmp_path):
    """Its deletion is refused, not its files'."""
    write(tmp_path, {"d/x": "1", "d/.env": "s"})
    found = assembled(Observed({"d": DIRECTORY, "d/x": FILE}, {}, kept=frozenset({"d"})))

    assert {c.path: bool(c.refused) for c in found.changes} == {"d": True, "d/x": False}


@pytest.mark.parametrize("where", ["host", "box"])
def test_own_hook_directory_is_known_from_either_side(assembled, tmp_path, where):
    """core.hooksPath of the live repository, or of the one in the box."""
    write(tmp_path, {".git/config": "[core]\nhooksPath = ./tools/gh/\n" if where == "host" else ""})
    settings = ("core.hookspath = tools/gh",) if where == "box" else ()

    found = assembled(Observed({}, {"tools/gh/pre-commit": FILE}, git_settings=settings))

    assert found.changes[0].runs_on_host == "git hook"
    assert len(found.notes) == len(settings)
