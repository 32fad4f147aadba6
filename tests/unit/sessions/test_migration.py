"""From format 1 to today's: at once, with the old file kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.entry import FORMAT_VERSION
from orchestrator.sessions.lease import read_holder
from orchestrator.sessions.migration import STEPS, migrate
from orchestrator.sessions.store import SessionStore

from .conftest import entry, file_of, file_size_limit, user

OLD = (
    b'{"type":"session","id":"0123456789ab","cwd":"/home/me/project",'
    b'"created":"2026-01-02T03:04:05Z","policy_digest":"","image_digest":"","version":1}\n'
)
"""A header as version 1 wrote it."""
BODY = file_of(entry("a", None), entry("b", "a"), header=None)


@pytest.fixture
def old(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD + BODY)
    return path


def test_every_version_has_its_step() -> None:
    """No session of any release is left behind."""
    assert sorted(STEPS) == list(range(1, FORMAT_VERSION))


def test_old_session_is_brought_up_and_kept(old: Path) -> None:
    """Entries are the same bytes; the person is told where the old file is."""
    with SessionStore.open(old) as store:
        assert [one.id for one in store.tree.entries] == ["a", "b"]
        assert store.header.version == FORMAT_VERSION
        (warning,) = store.warnings
        store.append("message", encode_message(user("next")))

    assert f"{old.name}.v1" in warning
    assert old.with_name(f"{old.name}.v1").read_bytes() == OLD + BODY
    head, _, rest = old.read_bytes().partition(b"\n")
    assert json.loads(head)["version"] == FORMAT_VERSION
    assert rest.startswith(BODY)
    assert old.stat().st_mode & 0o777 == 0o600
    with SessionStore.open(old) as again:
        assert again.warnings == []
        assert len(again.tree.entries) == 3


def test_lease_goes_over_without_a_gap(old: Path) -> None:
    """The new file is locked, and the lease names this process."""
    with SessionStore.open(old):
        with pytest.raises(SessionBusy):
            SessionStore.open(old)
        holder = read_holder(old)
        assert holder is not None
        assert holder.pid == os.getpid()


def test_damaged_lines_stay_as_they_are() -> None:
    """What cannot be read today may be read another day."""
    assert migrate(OLD + b"damage\n" + BODY, 1).endswith(b"\n" + b"damage\n" + BODY)


def test_header_behind_damage_is_found() -> None:
    """A new first line is put before it."""
    fresh = migrate(b"\0\0\0\n" + OLD + BODY, 1)

    assert json.loads(fresh.partition(b"\n")[0])["version"] == FORMAT_VERSION
    assert fresh.endswith(OLD + BODY)


def test_full_disk_leaves_the_old_file(old: Path) -> None:
    """Nothing is half done, and it can be tried again."""
    with file_size_limit(100), pytest.raises(SessionError, match="brought up to date"):
        SessionStore.open(old)

    assert old.read_bytes() == OLD + BODY
    assert [path.name for path in old.parent.iterdir()] == [old.name]
    with SessionStore.open(old) as store:
        assert store.header.version == FORMAT_VERSION


def test_kill_between_its_steps_loses_nothing(old: Path) -> None:
    """A backup that an attempt before has left is taken for what it is."""
    old.with_name(f"{old.name}.v1").hardlink_to(old)
    old.with_name(f".{old.name}.new").write_bytes(b"half")

    with SessionStore.open(old) as store:
        assert len(store.tree.entries) == 2
    assert sorted(path.name for path in old.parent.iterdir()) == [old.name, f"{old.name}.v1"]


def test_another_file_in_the_backups_place_is_not_overwritten(old: Path) -> None:
    """Who put it there wanted it; the session stays as it is."""
    backup = old.with_name(f"{old.name}.v1")
    backup.write_text("mine")

    with pytest.raises(SessionError, match="brought up to date"):
        SessionStore.open(old)
    assert backup.read_text() == "mine"
    assert old.read_bytes() == OLD + BODY


@pytest.mark.parametrize("version", [0, -1])
def test_version_that_never_was_is_refused(version: int) -> None:
    """Nothing is guessed of it."""
    data = OLD.replace(b'"version":1', b'"version":%d' % version) + BODY
    with pytest.raises(SessionError, match="expected a version from 1"):
        migrate(data, version)


def test_two_processes_bring_it_up_once(old: Path) -> None:
    """Whoever is second is refused, or opens what the first has made; no line is lost."""
    code = (
        "import sys; from pathlib import Path\n"
        "from orchestrator.errors import SessionBusy\n"
        "from orchestrator.sessions.store import SessionStore\n"
        "for n in range(40):\n"
        "    try:\n"
        "        with SessionStore.open(Path(sys.argv[1])) as store:\n"
        "            store.append('custom', {'by': sys.argv[2]})\n"
        "    except SessionBusy: pass\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(old), name], cwd=Path(__file__).parents[3]
        )
        for name in "xy"
    ]
    assert [worker.wait() for worker in workers] == [0, 0]
    with SessionStore.open(old) as store:
        assert store.warnings == []
        assert len(store.tree.entries) > 2
