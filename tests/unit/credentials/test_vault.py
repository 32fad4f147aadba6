import os
import threading
from pathlib import Path

import pytest

from orchestrator.credentials.secret import Secret
from orchestrator.credentials.vault import Vault, write_private
from orchestrator.credentials.vault_file import Cost
from orchestrator.errors import CredentialError

CHEAP = Cost(n=2**14)


class Asked:
    """Gives a passphrase, and counts how often."""

    def __init__(self, passphrase: str = "right horse") -> None:
        self.passphrase = passphrase
        self.times: list[bool] = []

    def __call__(self, *, new: bool) -> str:
        self.times.append(new)
        return self.passphrase


def vault(folder: Path, asked: Asked | None = None) -> Vault:
    return Vault(folder / "keys" / "vault", asked or Asked(), cost=CHEAP)


def test_secret_is_kept_across_processes(tmp_path: Path) -> None:
    """What one process puts in, the next finds."""
    vault(tmp_path).set("a", Secret("1"))
    vault(tmp_path).set("b", Secret("2"))
    found = vault(tmp_path).entries()
    assert {name: value.reveal() for name, value in found.items()} == {"a": "1", "b": "2"}


def test_passphrase_is_asked_once_and_only_when_needed(tmp_path: Path) -> None:
    """No vault, no question; one process, one question."""
    asked = Asked()
    box = vault(tmp_path, asked)
    assert box.entries() == {}
    assert not box.remove("a")
    assert asked.times == []
    box.set("a", Secret("1"))
    box.set("b", Secret("2"))
    assert box.entries().keys() == {"a", "b"}
    assert asked.times == [True]


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    """Nobody else reads even the encrypted form."""
    vault(tmp_path).set("a", Secret("1"))
    folder = tmp_path / "keys"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == ["vault", "vault.lock"]


def test_wrong_passphrase_changes_nothing(tmp_path: Path) -> None:
    """A vault that cannot be opened is not overwritten."""
    vault(tmp_path).set("a", Secret("1"))
    before = (tmp_path / "keys" / "vault").read_bytes()
    with pytest.raises(CredentialError, match="wrong passphrase"):
        vault(tmp_path, Asked("wrong horse")).set("b", Secret("2"))
    assert (tmp_path / "keys" / "vault").read_bytes() == before


def test_wrong_passphrase_may_be_mended(tmp_path: Path) -> None:
    """A slip of the fingers is asked for again."""
    vault(tmp_path).set("a", Secret("1"))
    asked = Asked("wrong horse")
    box = vault(tmp_path, asked)
    with pytest.raises(CredentialError):
        box.entries()
    asked.passphrase = "right horse"
    assert box.entries()["a"].reveal() == "1"


def test_short_passphrase_makes_no_vault(tmp_path: Path) -> None:
    """It would fall to guessing."""
    box = vault(tmp_path, Asked("short"))
    with pytest.raises(CredentialError, match="at least 8"):
        box.set("a", Secret("1"))
    assert not box.exists


def test_removed_secret_is_gone(tmp_path: Path) -> None:
    """Removing says whether there was anything to remove."""
    box = vault(tmp_path)
    box.set("a", Secret("1"))
    assert box.remove("a")
    assert not box.remove("a")
    assert vault(tmp_path).entries() == {}


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Each reads what the other wrote before it writes."""
    names = [f"k{number}" for number in range(6)]
    writers = [
        threading.Thread(target=vault(tmp_path).set, args=(name, Secret(name))) for name in names
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(vault(tmp_path).entries()) == names


def test_value_that_another_process_changed_is_the_new_one(tmp_path: Path) -> None:
    """A key that is rotated reaches the sessions that run."""
    asked = Asked()
    mine = vault(tmp_path, asked)
    mine.set("a", Secret("1"))
    vault(tmp_path).set("a", Secret("2"))

    assert mine.entries()["a"].reveal() == "2"
    assert asked.times == [True]


def test_new_passphrase_opens_and_the_old_one_does_not(tmp_path: Path) -> None:
    """Keys stay."""
    vault(tmp_path).set("a", Secret("1"))
    vault(tmp_path).change_passphrase(Secret("new battery"))

    assert vault(tmp_path, Asked("new battery")).entries()["a"].reveal() == "1"
    with pytest.raises(CredentialError, match="wrong passphrase"):
        vault(tmp_path).entries()


@pytest.mark.parametrize(("old", "new"), [("wrong horse", "new battery"), ("right horse", "short")])
def test_passphrase_stays_where_either_is_not_good(tmp_path: Path, old: str, new: str) -> None:
    """Not even the file's bytes change."""
    vault(tmp_path).set("a", Secret("1"))
    before = (tmp_path / "keys" / "vault").read_bytes()

    with pytest.raises(CredentialError):
        vault(tmp_path, Asked(old)).change_passphrase(Secret(new))
    assert (tmp_path / "keys" / "vault").read_bytes() == before


def test_there_is_no_passphrase_to_change_without_a_vault(tmp_path: Path) -> None:
    """And none is made."""
    with pytest.raises(CredentialError, match="no vault yet"):
        vault(tmp_path).change_passphrase(Secret("new battery"))
    assert not (tmp_path / "keys").exists()


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "file"
    write_private(path, b"old")
    with pytest.raises(TypeError):
        write_private(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_symlink_is_replaced_not_followed(tmp_path: Path) -> None:
    """A planted link does not carry the vault elsewhere."""
    target = tmp_path / "target"
    target.write_bytes(b"untouched")
    path = tmp_path / "vault"
    path.symlink_to(target)
    write_private(path, b"new")
    assert target.read_bytes() == b"untouched"
    assert not path.is_symlink()


def test_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """The path stands in the error."""
    (tmp_path / "keys").write_text("a file")
    with pytest.raises(CredentialError, match="keys"):
        vault(tmp_path).set("a", Secret("1"))


def test_vault_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody writes to it, and every command that needs a key would wait."""
    os.mkfifo(tmp_path / "vault")

    with pytest.raises(CredentialError, match="expected a regular file, got a named pipe") as told:
        Vault(tmp_path / "vault", Asked()).entries()
    assert "ls -ld" in told.value.hint
