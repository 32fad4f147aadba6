from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from tests.support.workspaces import Desk, give, write

pytestmark = pytest.mark.docker
ROOT = Path(__file__).parents[3]


class Shell:
    """The command line in a directory, with a state of its own."""

    def __init__(self, desk: Desk, home: Path) -> None:
        self.desk = desk
        self.env = {
            **{key: os.environ[key] for key in ("PATH", "DOCKER_HOST") if key in os.environ},
            "HOME": str(home),
            "GLOVEBOX_STATE": str(desk.paths.state),
            "PYTHONPATH": str(ROOT),
        }

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.desk.project,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def work(self, script: str) -> str:
        """Let a session's box run a script; return the session, whose chain is there as in a run."""
        session = self.desk.work(script).site.record.session
        self.chain(session)
        return session

    def chain(self, session: str) -> None:
        paths = self.desk.paths
        AuditLog.create(
            paths.audit_log(session),
            session=session,
            genesis={"policy_digest": "sha256:x", "image_digest": "sha256:y"},
            signer=Signer.load(paths.keys),
        ).close()

    def recorded(self, session: str) -> list[tuple[str, dict]]:
        """Return the chain's records that are about changes."""
        lines = self.desk.paths.audit_log(session).read_text().splitlines()
        records = [json.loads(line) for line in lines]
        kinds = {"apply_intent", "apply_outcome", "discard"}
        return [(r["type"], r["body"]) for r in records if r["type"] in kinds]

    @staticmethod
    def command(*arguments: str) -> list[str]:
        program = "from orchestrator.cli.main import main; main()"
        return [sys.executable, "-c", program, *arguments]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    project = tmp_path / "project"
    write(project, {"a.txt": "one\n", "sub/b.txt": "b\n"})
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        desk = Desk(engine, Paths(tmp_path / "state", tmp_path / "config"), project)
        yield Shell(desk, tmp_path)
        desk.clean()


def test_diff_shows_text_on_stdout_and_dangers_on_stderr(shell):
    """stdout carries the answer alone."""
    shell.work("echo two >> a.txt; echo x > Makefile")

    done = shell("diff")

    assert done.returncode == 0
    assert "+two\n" in done.stdout
    assert "runs on your machine:\n  Makefile: build" in done.stderr
    assert "runs on" not in done.stdout


def test_diff_escapes_what_the_box_wrote(shell):
    """Neither names nor contents reach the terminal raw, unless asked for and not to a terminal."""
    shell.work(r"printf '\033[2J\n' > $'n\033[31m'; printf 'a\342\200\256b\r\n' > bidi")

    shown = shell("diff")
    raw = shell("diff", "--raw")

    assert "\x1b" not in shown.stdout + shown.stderr
    assert "\u202e" not in shown.stdout
    assert r"+a\u202eb\r" in shown.stdout
    assert "\x1b[2J" in raw.stdout


def test_raw_diff_is_refused_on_a_terminal(shell):
    """The box's bytes could drive it."""
    shell.work("echo x > n")
    primary, secondary = pty.openpty()

    done = subprocess.run(
        shell.command("diff", "--raw"),
        cwd=shell.desk.project,
        env=shell.env,
        stdout=secondary,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(primary)
    os.close(secondary)

    assert done.returncode == 2
    assert "--raw" in done.stderr


def test_raw_diff_is_a_patch(shell, tmp_path):
    """Another tool can apply it."""
    shell.work("echo two >> a.txt; mkdir n; echo new > n/f")
    copy = tmp_path / "copy"
    write(copy, {"a.txt": "one\n"})

    subprocess.run(
        ["patch", "-p1", "-s"], input=shell("diff", "--raw").stdout, text=True, cwd=copy, check=True
    )

    assert (copy / "a.txt").read_text() == "one\ntwo\n"
    assert (copy / "n/f").read_text() == "new\n"


def test_stat_and_json_tell_the_same_changes(shell):
    """One for people, one for machines."""
    shell.work("echo two >> a.txt; rm sub/b.txt")

    stat, machine = shell("diff", "--stat"), json.loads(shell("diff", "--json").stdout)

    assert stat.stdout == "  modified  a.txt  (+1 -0)\n  deleted   sub/b.txt  (+0 -1)\n"
    assert [(c["path"], c["kind"]) for c in machine["changes"]] == [
        ("a.txt", "modified"),
        ("sub/b.txt", "deleted"),
    ]
    assert machine["directory"] == str(shell.desk.project)


def test_apply_takes_all_and_forgets_the_session(shell):
    """Exit code 0, and nothing waits any more."""
    shell.work("echo two >> a.txt")

    done = shell("apply")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1 changes applied to {shell.desk.project}\n"
    assert (shell.desk.project / "a.txt").read_text() == "one\ntwo\n"
    again = shell("diff")
    assert again.returncode == 1
    assert "no session has changes waiting" in again.stderr


def test_apply_of_a_path_leaves_the_rest(shell):
    """Whatever was not asked for waits, without an error."""
    shell.work("echo two >> a.txt; echo c > sub/c.txt")

    done = shell("apply", "--path", "sub", "--json")

    assert done.returncode == 0
    assert [c["path"] for c in json.loads(done.stdout)["applied"]] == ["sub/c.txt"]
    assert "the rest waits" in done.stderr
    assert (shell.desk.project / "a.txt").read_text() == "one\n"


def test_apply_that_leaves_something_unasked_exits_1(shell):
    """A script must not take it for the whole."""
    shell.work("echo x > .envrc; echo y > ok")

    done = shell("apply")

    assert done.returncode == 1
    assert ".envrc: it is protected" in done.stderr
    assert (shell.desk.project / "ok").exists()
    assert not (shell.desk.project / ".envrc").exists()


def test_conflict_exits_1_and_applies_nothing(shell):
    """With the way to go on."""
    shell.work("echo two >> a.txt; echo y > ok")
    (shell.desk.project / "a.txt").write_text("mine\n")

    done = shell("apply")

    assert done.returncode == 1
    assert "changed on the host" in done.stderr
    assert "--skip-conflicts" in done.stderr
    assert not (shell.desk.project / "ok").exists()
    assert shell("apply", "--skip-conflicts").returncode == 0
    assert (shell.desk.project / "ok").exists()


def test_malformed_path_glob_is_a_usage_error(shell):
    """It names the glob."""
    shell.work("echo y > ok")

    done = shell("apply", "--path", "../x")

    assert done.returncode == 2
    assert "../x" in done.stderr


def test_discard_drops_the_named_session(shell):
    """By the beginning of its id; another session's changes stay."""
    first = shell.work("echo 1 > one")
    second = shell.work("echo 2 > two")

    assert shell("discard", first[:8]).returncode == 0
    assert "two" in shell("diff", "--stat").stdout
    assert shell("diff", first).returncode == 1
    assert shell("diff", second).returncode == 0


def test_newest_session_of_the_directory_is_the_default(shell, tmp_path):
    """From a directory below too; from elsewhere there is none."""
    shell.work("echo 1 > old")
    shell.work("echo 2 > newest")

    below = shell("diff", "--stat", "--cd", "sub")
    elsewhere = shell("diff", "--cd", str(tmp_path))

    assert below.stdout == "  added     newest  (+1 -0)\n"
    assert elsewhere.returncode == 1


def test_apply_and_discard_are_in_the_audit_chain(shell):
    """Intent before the effect, outcome after it; names of any bytes included."""
    taken = shell.work(r"echo x > ok; echo y > $'\xff\xfe'; mkfifo f")
    assert shell("apply").returncode == 1
    dropped = shell.work("echo x > other")
    assert shell("discard", dropped).returncode == 0

    (intent, wish), (outcome, done) = shell.recorded(taken)

    assert (intent, outcome) == ("apply_intent", "apply_outcome")
    assert wish["count"] == done["applied"] == 2
    assert done["left"][0]["path"] == "f"
    assert [kind for kind, _ in shell.recorded(dropped)] == ["discard"]


def test_nothing_is_applied_without_a_chain(shell):
    """No record, no action."""
    session = shell.work("echo x > made")
    shell.desk.paths.audit_log(session).unlink()

    done = shell("apply")

    assert done.returncode == 7
    assert not (shell.desk.project / "made").exists()


def test_broken_workspace_can_be_discarded(shell):
    """By its whole id."""
    session = shell.work("echo x > made")
    folder = shell.desk.paths.work(session)
    (folder / "workspace.json").write_text("{")

    assert shell("diff", session).returncode == 1
    assert shell("discard", session).returncode == 0
    assert not folder.exists()
