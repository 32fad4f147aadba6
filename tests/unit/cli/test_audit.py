"""``glovebox audit``, run as users run it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.schema.ids import SessionId
from tests.support import warm

ROOT = Path(__file__).parents[3]
SESSION = SessionId("0123456789ab")
Glovebox = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def path(state: Path) -> Path:
    """A chain that its session closed, with a call that never ended."""
    path = state / "audit" / f"{SESSION}.jsonl"
    log = AuditLog.create(path, session=SESSION, genesis={}, signer=Signer.load(state / "keys"))
    log.append("intent", {"call": "c1", "command": "echo \u202e\x1b[2J", "content": "x" * 20_000})
    log.close()
    return path


@pytest.fixture
def audit(tmp_path: Path, state: Path) -> Glovebox:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "GLOVEBOX_STATE": str(state),
        }
        return warm.run(["audit", *arguments], env=environ, cwd=tmp_path)

    return run


@pytest.mark.parametrize("name", ["id", "beginning", "file", "newest"])
def test_closed_chain_is_named_so_with_its_interrupted_call(
    audit: Glovebox, path: Path, name: str
) -> None:
    """However the chain is named, the answer is on stdout and the exit code is 0."""
    given = {"id": [SESSION], "beginning": ["0123"], "file": [str(path)], "newest": []}[name]

    done = audit("verify", *given)

    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "intact, closed"
    assert "  interrupted: call c1, intent at seq 1" in done.stdout
    assert "known from this machine" in done.stdout


def test_broken_chain_exits_seven_and_names_the_record(audit: Glovebox, path: Path) -> None:
    """A script can rely on the exit code, a person on the words."""
    path.write_bytes(path.read_bytes().replace(b'"c1"', b'"c9"'))

    done = audit("verify")

    assert done.returncode == 7
    assert done.stdout.startswith("broken at seq 1: the hash does not fit")


def test_open_chain_passes_unless_it_must_be_closed(audit: Glovebox, path: Path) -> None:
    """A crashed or running session is not a forgery."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))

    assert audit("verify").stdout.startswith("intact, open\n")
    assert audit("verify").returncode == 0
    assert audit("verify", "--require-closed").returncode == 7


def test_chain_of_another_key_is_broken_here(
    audit: Glovebox, path: Path, state: Path, tmp_path: Path
) -> None:
    """A chain in the state folder must be signed by this machine, or by the key that is given."""
    other = tmp_path / "other.jsonl"
    log = AuditLog.create(other, session=SESSION, genesis={}, signer=Signer(bytes(32)))
    log.close()
    assert "known from the chain itself" in audit("verify", str(other)).stdout
    pub = str(state / "keys" / "audit-ed25519.pub")
    assert audit("verify", str(other), "--key", pub).returncode == 7
    assert audit("verify", str(other), "--key", Signer(bytes(32)).public_key).returncode == 0

    path.write_bytes(other.read_bytes())

    done = audit("verify", SESSION)
    assert done.returncode == 7
    assert "signed by another key" in done.stdout


def test_missing_payload_is_told_unless_payloads_are_left_out(audit: Glovebox, path: Path) -> None:
    """A chain can be handed on alone, knowingly."""
    for file in path.with_suffix(".payloads").iterdir():
        file.unlink()

    assert audit("verify").returncode == 7
    assert audit("verify", "--without-payloads").returncode == 0


def test_verdict_as_json_is_one_object(audit: Glovebox, path: Path) -> None:
    """For machines, the same facts."""
    data = json.loads(audit("verify", "--json").stdout)

    assert data["file"] == str(path)
    assert (data["state"], data["records"], data["signed_through"]) == ("closed", 3, 1)
    assert data["interrupted"] == [{"call": "c1", "intent": 1}]
    assert data["key_from"] == "this machine"


def test_bad_pin_is_an_error(audit: Glovebox, path: Path) -> None:
    """A mistyped key is not a verdict."""
    assert path.exists()
    done = audit("verify", "--key", "ed25519:oops")

    assert (done.returncode, done.stdout) == (7, "")
    assert "expected ed25519: and 32 bytes" in done.stderr


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "ffff"], ["show", "/none"]])
def test_missing_chain_is_a_usage_error(audit: Glovebox, arguments: list[str]) -> None:
    """There is nothing to verify."""
    done = audit(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert "chain" in done.stderr


def test_records_are_shown_without_their_control_characters(audit: Glovebox, path: Path) -> None:
    """What the model wrote cannot act on the terminal, in text or JSON."""
    assert path.exists()
    shown, as_json = audit("show").stdout, audit("show", "--json").stdout

    for text in (shown, as_json):
        assert "\u202e" not in text
        assert "\x1b" not in text
    assert "intent" in shown
    assert [json.loads(line)["type"] for line in as_json.splitlines()] == [
        "genesis", "intent", "close",
    ]  # fmt: skip


def test_unreadable_line_is_shown_as_such(audit: Glovebox, path: Path) -> None:
    """Showing is for looking, also at what is broken."""
    path.write_bytes(path.read_bytes() + b"\x1b]0;x\x07 torn")

    assert "unreadable" in audit("show").stdout


def test_running_session_can_be_verified(audit: Glovebox, state: Path) -> None:
    """The writer's lock does not keep readers out."""
    path = state / "audit" / "aaaaaaaaaaaa.jsonl"
    log = AuditLog.create(
        path, session=SessionId("aaaaaaaaaaaa"), genesis={}, signer=Signer.load(state / "keys")
    )
    log.append("intent", {"call": "c1"})

    shown, data = audit("verify", "aaaa").stdout, json.loads(audit("verify", "--json").stdout)
    assert shown.startswith("intact, open\n")
    assert "2 records, none of them signed yet\n" in shown
    assert data["signed_through"] is None
    log.close()
    assert "3 records, signed through 1\n" in audit("verify", "aaaa").stdout
