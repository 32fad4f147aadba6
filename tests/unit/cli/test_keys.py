"""The real command in a process of its own: what it prints, where, and with which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.support import warm
from tests.support.model_server import Reply, serving

VALUE = "sk-live-0123456789abcdef"
PROGRAM = [sys.executable, "-c", "from orchestrator.cli.main import main; main()", "keys"]


class Machine:
    """A home of its own, without a keyring."""

    def __init__(self, folder: Path) -> None:
        passphrase = folder / "passphrase"
        passphrase.write_text("right horse battery\n")
        passphrase.chmod(0o600)
        self.state = folder / "state"
        self.config = folder / "config"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(Path.cwd()),
            "GLOVEBOX_STATE": str(self.state),
            "GLOVEBOX_CONFIG": str(self.config),
            "GLOVEBOX_VAULT_PASSPHRASE_FILE": str(passphrase),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }

    def keys(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return warm.run(
            ["keys", *arguments], env=self.environ, cwd=Path.cwd(), stdin=stdin, new_session=True
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_key_from_stdin_is_kept_and_listed_without_its_value(machine: Machine) -> None:
    """stdout carries only answers, and nothing carries the key."""
    kept = machine.keys("set", "anthropic", "-", stdin=VALUE + "\n")
    assert (kept.returncode, kept.stdout) == (0, "")
    assert "vault" in kept.stderr
    listed = machine.keys("list")
    assert listed.stdout.split()[:2] == ["anthropic", "vault"]
    machine_form = json.loads(machine.keys("list", "--json").stdout)
    assert machine_form["keys"][0]["name"] == "anthropic"
    for done in (kept, listed):
        assert VALUE not in done.stdout + done.stderr
    on_disk = b"".join(p.read_bytes() for p in machine.state.rglob("*") if p.is_file())
    assert on_disk
    assert VALUE.encode() not in on_disk


def test_value_on_the_command_line_is_refused_and_not_repeated(machine: Machine) -> None:
    """Every program on the machine can read a command line."""
    done = machine.keys("set", "anthropic", VALUE)
    assert done.returncode == 2
    assert VALUE not in done.stdout + done.stderr
    swapped = machine.keys("set", VALUE + "X")
    assert swapped.returncode == 2
    assert VALUE not in swapped.stdout + swapped.stderr
    assert not machine.state.exists()


def test_key_is_asked_for_unseen(machine: Machine) -> None:
    """On a terminal the value is typed with the echo off."""
    child = pexpect.spawn(
        PROGRAM[0],
        [*PROGRAM[1:], "set", "openai"],
        env=machine.environ,  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=30,
    )
    child.expect_exact("Key for openai: ")
    child.waitnoecho(5)
    child.sendline(VALUE)
    child.expect(pexpect.EOF)
    shown = child.before or ""
    child.close()
    assert child.exitstatus == 0
    assert VALUE not in shown
    assert "fingerprint" in shown


def test_without_a_terminal_set_does_not_wait(machine: Machine) -> None:
    """It says how to give the value instead."""
    done = machine.keys("set", "anthropic")
    assert done.returncode == 7
    assert "`-`" in done.stderr


def test_removed_key_is_gone(machine: Machine) -> None:
    """And removing it twice is an error."""
    machine.keys("set", "anthropic", "-", stdin=VALUE)
    assert machine.keys("rm", "anthropic").returncode == 0
    assert machine.keys("list").stdout == ""
    assert machine.keys("rm", "anthropic").returncode == 7


def test_variable_that_wins_is_noted(machine: Machine) -> None:
    """Who sets a key learns why it is not used."""
    machine.environ["ANTHROPIC_API_KEY"] = "sk-environment"
    done = machine.keys("set", "anthropic", "-", stdin=VALUE)
    assert "ANTHROPIC_API_KEY is set and wins" in done.stderr
    refused = machine.keys("rm", "openai")
    assert refused.returncode == 7


def test_wrong_passphrase_is_told(machine: Machine) -> None:
    """Exit 7, and the vault stays."""
    machine.keys("set", "anthropic", "-", stdin=VALUE)
    Path(machine.environ["GLOVEBOX_VAULT_PASSPHRASE_FILE"]).write_text("wrong horse battery")
    done = machine.keys("list")
    assert done.returncode == 7
    assert "wrong passphrase" in done.stderr


def test_changed_passphrase_opens_and_the_keys_stay(machine: Machine, tmp_path: Path) -> None:
    """The old one opens nothing any more; the error says which of the two it is."""
    machine.keys("set", "anthropic", "-", stdin=VALUE)
    new = tmp_path / "new"
    new.write_text("new battery staple\n")
    new.chmod(0o600)

    changed = machine.keys("passphrase", "--new-file", str(new))

    assert (changed.returncode, changed.stdout) == (0, "")
    refused = machine.keys("list")
    assert refused.returncode == 7
    assert "wrong passphrase" in refused.stderr
    machine.environ["GLOVEBOX_VAULT_PASSPHRASE_FILE"] = str(new)
    assert "anthropic" in machine.keys("list").stdout


def test_new_passphrase_is_typed_twice_alike(machine: Machine) -> None:
    """A slip would lock the keys away."""
    machine.keys("set", "anthropic", "-", stdin=VALUE)
    child = pexpect.spawn(
        PROGRAM[0], [*PROGRAM[1:], "passphrase"], env=machine.environ, encoding="utf-8", timeout=30
    )
    child.expect("New vault passphrase: ")
    child.sendline("new battery staple")
    child.expect("Again: ")
    child.sendline("new battery stable")
    child.expect("nothing was changed")
    child.wait()

    assert machine.keys("list").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("set", "anthropic", "-", "--to", "cloud"), VALUE),
        (("set", "anthropic", "-"), "x" * 20_000),
    ],
)
def test_wrong_use_is_exit_2(machine: Machine, arguments: tuple[str, ...], stdin: str) -> None:
    """Nothing is kept."""
    assert machine.keys(*arguments, stdin=stdin).returncode == 2
    assert not machine.state.exists()


def test_good_key_is_tried_with_one_request(machine: Machine) -> None:
    """The key goes to the configured address and works there."""
    machine.keys("set", "corp", "-", stdin=VALUE)
    models = {"object": "list", "data": [{"id": "m", "object": "model"}] * 2}
    with serving(Reply(body=models)) as server:
        machine.config.mkdir()
        (machine.config / "config.yaml").write_text(
            f"providers: {{corp: {{api: openai-chat, base_url: '{server.address}/v1'}}}}\n"
        )
        done = machine.keys("test", "corp")
        assert [asked.method for asked in server.asked] == ["GET"]
        assert server.asked[0].headers["authorization"] == f"Bearer {VALUE}"
    assert done.returncode == 0, done.stderr
    assert done.stdout == "corp: the key works; it may use 2 models\n"


def test_refused_key_is_exit_6_and_unseen(machine: Machine) -> None:
    """A server that repeats the key does not make us repeat it."""
    machine.environ["ANTHROPIC_API_KEY"] = VALUE
    refusal = {"type": "error", "error": {"type": "authentication_error", "message": VALUE}}
    with serving(Reply(401, {}, refusal)) as server:
        machine.environ["ANTHROPIC_BASE_URL"] = server.address
        done = machine.keys("test", "anthropic")
    assert done.returncode == 6
    assert VALUE not in done.stdout + done.stderr


def test_missing_key_is_exit_7(machine: Machine) -> None:
    """Nothing is sent without a key."""
    done = machine.keys("test", "anthropic")
    assert done.returncode == 7
    assert "ANTHROPIC_API_KEY" in done.stderr
