"""The corpus of what went wrong elsewhere when a box's files were brought to the host."""

from __future__ import annotations

import os
import re
import stat
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from orchestrator.config.paths import Paths
from orchestrator.engine.base_image import ensure_base
from orchestrator.engine.client import connect
from orchestrator.errors import WorkspaceError
from orchestrator.workspace.git_settings import command_settings
from orchestrator.workspace.journal import read_journal
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.summary import summary_lines
from tests.support.hostile_tar import archive, member, read
from tests.support.workspaces import Desk, by_path, give, picture, play_box, write

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE.parent / "cases" / "files.yaml").read_text())
IDS = [case["id"] for case in CASES if case["id"].startswith("files-export-")]
NAMES = re.findall(r"^def test_(files_export_\d\d)_\w+\(", Path(__file__).read_text(), re.MULTILINE)


@pytest.mark.parametrize("case", IDS)
def test_case_has_a_test_of_its_own(case: str) -> None:
    """A case added to the corpus fails until somebody has written its test."""
    assert NAMES.count(case.replace("-", "_")) == 1


def test_no_test_is_for_a_case_that_is_gone() -> None:
    """Names and corpus agree both ways."""
    assert {name.replace("_", "-") for name in NAMES} <= set(IDS)


@pytest.fixture(params=["overlay", "copy"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A project, the real engine, and each mode that brings files back."""
    project = tmp_path / "project"
    write(
        project, {"plain": "1", ".git/HEAD": "ref: x\n", ".git/config": "[core]\n\tbare = false\n"}
    )
    write(tmp_path, {"outside/victim": "untouched"})
    give(project)
    with closing(connect()) as engine:
        ensure_base(engine, lambda _: None)
        paths = Paths(tmp_path / "state", tmp_path / "config")
        made = Desk(engine, paths, project, request.param)
        yield made
        made.clean()


def shown(desk: Desk, workspace) -> str:
    return "\n".join(summary_lines(desk.look(workspace), {}))


@pytest.mark.docker
def test_files_export_01_link_to_a_host_file_is_refused(desk):
    """The link is not followed on the host, and not made either."""
    applied = desk.take(desk.work("ln -s /home/user/.ssh/id_ed25519 report.txt"))

    assert [item.path for item in applied.left] == ["report.txt"]
    assert not os.path.lexists(desk.project / "report.txt")


def test_files_export_02_climbing_member_refuses_the_whole(tmp_path):
    """Nothing is written, and the name is told."""
    with pytest.raises(WorkspaceError, match=r"\.\./\.\./evil.*nothing was read back"):
        read(archive((member("workspace/../../evil"), b"x")), Spool(tmp_path / "s"))

    assert list((tmp_path / "s").iterdir()) == []


def test_files_export_03_absolute_member_is_refused(tmp_path):
    """The host's own directories are never named."""
    with pytest.raises(WorkspaceError, match=r"/etc/cron\.d/x"):
        read(archive((member("/etc/cron.d/x"), b"x")), Spool(tmp_path / "s"))


def test_files_export_04_member_below_a_link_is_refused(tmp_path):
    """Later members do not pass through earlier links."""
    link = member("workspace/d", type=tarfile.SYMTYPE, linkname="..")

    with pytest.raises(WorkspaceError, match="no directory of the archive"):
        read(archive((link, b""), (member("workspace/d/x"), b"x")), Spool(tmp_path / "s"))


@pytest.mark.docker
def test_files_export_05_link_of_an_earlier_export_is_not_followed(desk):
    """Even a link that stands in the project itself leads no write out of it."""
    first = desk.work("mkdir x; echo evil > x/victim")
    (desk.project / "x").symlink_to(desk.project.parent / "outside")

    with pytest.raises(WorkspaceError, match=r"no directory on|changed on"):
        desk.take(first)

    assert picture(desk.project.parent / "outside") == {"victim": "644 b'untouched'"}


@pytest.mark.parametrize("target", ["../../outside", "workspace/../../outside", "/etc/passwd"])
def test_files_export_06_hard_link_to_the_outside_is_refused(tmp_path, target):
    """It has no content, only a reason."""
    link = member("workspace/h", type=tarfile.LNKTYPE, linkname=target)

    assert read(archive((link, b"")), Spool(tmp_path / "s"))["h"].trouble


def test_files_export_07_hard_link_to_an_escaping_link_is_refused(tmp_path):
    """By our own check: a link of the archive is no file to be linked to."""
    data = archive(
        (member("workspace/s", type=tarfile.SYMTYPE, linkname="../../outside"), b""),
        (member("workspace/h", type=tarfile.LNKTYPE, linkname="workspace/s"), b""),
    )

    assert read(data, Spool(tmp_path / "s"))["h"].trouble


@pytest.mark.docker
def test_files_export_10_special_files_are_told_and_bits_dropped(desk):
    """A device cannot even be made; the FIFO stays in the box."""
    workspace = desk.work("mkfifo f; ! mknod d b 7 0; echo x > s; chmod 6755 s")
    text = shown(desk, workspace)

    applied = desk.take(workspace)

    assert "f: it is a fifo" in text
    assert "bits are dropped" in text
    assert [item.path for item in applied.left] == ["f"]
    assert stat.S_IMODE((desk.project / "s").stat().st_mode) == 0o755


@pytest.mark.docker
def test_files_export_13_copy_works_on_a_frozen_tree(desk):
    """A box that swaps links as fast as it can is paused while it is read."""
    workspace, prepared = desk.begin()
    script = (
        "mkdir d; echo x > d/f; ln -s /etc e; while :; do mv -T d t; mv -T e d; mv -T t e; done"
    )
    api, mount = desk.engine.api, prepared.mounts[0]
    made = api.create_container(
        workspace.site.record.image,
        ["timeout", "60", "bash", "-c", script + "; exit 0"],
        user=f"{prepared.uid}:{prepared.gid}",
        working_dir="/workspace",
        host_config=api.create_host_config(
            network_mode="none", binds={mount.source: {"bind": mount.target, "mode": "rw"}}
        ),
    )
    try:
        api.start(made["Id"])
        for _ in range(5):
            for change in desk.look(workspace).changes:
                assert change.path.split("/")[0] in {"d", "e", "t"}
                assert change.new is None or change.new.size <= len("x\n")
    finally:
        api.remove_container(made["Id"], force=True)


@pytest.mark.docker
def test_files_export_14_fsmonitor_stays_in_the_box_with_a_warning(desk):
    """The setting is named, and the host's configuration is as it was."""
    before = (desk.project / ".git/config").read_text()
    workspace = desk.work(r"printf '[core]\n\tfsmonitor = ./x\n' >> .git/config")

    assert "core.fsmonitor = ./x" in shown(desk, workspace)
    desk.take(workspace, Selection(include_protected=True))
    assert (desk.project / ".git/config").read_text() == before


@pytest.mark.docker
def test_files_export_15_hooks_are_not_exported(desk):
    """Not even when protected paths are asked for."""
    workspace = desk.work(
        "mkdir .git/hooks; echo x > .git/hooks/post-checkout; chmod +x .git/hooks/*"
    )

    assert "stay in the box" in shown(desk, workspace)
    desk.take(workspace, Selection(include_protected=True))
    assert not (desk.project / ".git/hooks").exists()


@pytest.mark.docker
def test_files_export_16_configured_hook_directory_is_reported_like_hooks(desk):
    """Wherever core.hooksPath points to, on the host or in the box."""
    write(desk.project, {".git/config": "[core]\n\thooksPath = tools/live\n"})
    give(desk.project)
    script = (
        "mkdir -p tools/live .husky/_ other; echo x > tools/live/pre-commit; "
        r"echo x > .husky/_/pre-commit; printf '[core]\n\thooksPath = other\n' >> .git/config; "
        "echo x > other/pre-push"
    )

    changes = by_path(desk.look(desk.work(script)))

    for path in ("tools/live/pre-commit", "other/pre-push"):
        assert changes[path].runs_on_host == "git hook"
    assert "hook" in changes[".husky/_/pre-commit"].runs_on_host
    assert changes[".husky/_/pre-commit"].protected


@pytest.mark.docker
def test_files_export_17_filters_are_named_and_their_commands_stay(desk):
    """An attribute without its command runs nothing."""
    script = r"""echo '* filter=x' > .gitattributes; printf '[filter "x"]\n\tsmudge = ./x\n' >> .git/config"""
    workspace = desk.work(script)

    text = shown(desk, workspace)

    assert "filter.x.smudge = ./x" in text
    assert ".gitattributes: git settings" in text
    desk.take(workspace)
    assert "smudge" not in (desk.project / ".git/config").read_text()


def test_files_export_20_command_settings_are_known_as_a_family():
    """The harness starts no git at all; a person is told of each of them."""
    text = """
        [diff]\n external = x\n[core]\n pager = x\n sshCommand = x\n[credential]\n helper = x
        [gpg]\n program = x\n[pager]\n log = x\n"""

    assert len(command_settings(text.replace("        ", ""))) == 6


@pytest.mark.docker
def test_files_export_21_bare_repository_is_reported(desk):
    """Git would obey its configuration from a directory above."""
    script = (
        "mkdir -p docs/archive/objects docs/archive/refs/heads; cd docs/archive; "
        r"echo 'ref: refs/heads/m' > HEAD; printf '[core]\n\tfsmonitor = ./x\n' > config"
    )

    assert "docs/archive/config: git repository in plain sight" in shown(desk, desk.work(script))


@pytest.mark.docker
def test_files_export_26_what_runs_on_the_host_is_listed_apart(desk):
    """Before anybody says yes."""
    script = """mkdir .vscode .devcontainer; echo '{"runOn": "folderOpen"}' > .vscode/tasks.json
        echo x > .envrc; echo '{}' > .devcontainer/devcontainer.json
        echo '{"scripts": {"prepare": "x"}}' > package.json"""

    text = shown(desk, desk.work(script))

    section = text.partition("runs on your machine:")[2].partition("protected,")[0]
    for path in (".vscode/tasks.json", ".envrc", ".devcontainer/devcontainer.json", "package.json"):
        assert f"  {path}: " in section


@pytest.mark.docker
def test_files_export_28_names_are_escaped_in_the_summary(desk):
    """A name is one line without control characters."""
    text = shown(desk, desk.work(r"echo x > $'a\nb\033[31mc'"))

    assert r"a\nb\x1b[31mc" in text
    assert "\x1b" not in text


@pytest.mark.docker
def test_files_export_30_own_state_is_outside_and_through_no_link(desk):
    """The box cannot reach the session's state, and a link in the state's place is refused."""
    workspace, prepared = desk.begin()
    folder = workspace.site.folder
    assert desk.project not in folder.parents
    assert str(folder) not in play_box(desk.engine, prepared, "find / -xdev 2>/dev/null; true")
    moved = desk.project.parent / "moved"
    desk.project.rename(moved)
    desk.project.symlink_to(moved)

    with pytest.raises(WorkspaceError, match=r"cannot be opened|expected to go on in"):
        desk.begin(workspace.site.record.session)

    desk.project.unlink()
    moved.rename(desk.project)
    assert read_journal(folder) is None


@pytest.mark.docker
def test_files_export_32_link_in_place_of_a_file_is_not_read(desk):
    """No content of the host comes into a change."""
    (desk.project.parent / "host-secret").write_text("secret of the host")
    workspace = desk.work(
        f"ln -s {desk.project.parent}/host-secret report.json; ln -sfn /etc plain"
    )

    changes = by_path(desk.look(workspace))

    assert changes["report.json"].new.sha256 == ""
    assert changes["report.json"].refused
    assert changes["plain"].refused
