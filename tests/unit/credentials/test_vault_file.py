import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.credentials.vault_file import Cost, seal, unseal
from orchestrator.errors import CredentialError

CHEAP = Cost(n=2**14)
ENTRIES = {"anthropic": "sk-secret-1", "ä": "ö\n"}


def sealed(entries: dict[str, str] = ENTRIES, cost: Cost = CHEAP) -> bytes:
    return seal(entries, "right horse", random=os.urandom, cost=cost)


def test_what_goes_in_comes_out() -> None:
    """The right passphrase opens it."""
    assert unseal(sealed(), "right horse", source="v") == ENTRIES


def test_nothing_in_it_is_readable() -> None:
    """Neither names nor values stand in the file."""
    data = sealed()
    assert b"sk-secret-1" not in data
    assert b"anthropic" not in data


def test_same_entries_never_seal_alike() -> None:
    """Salt and nonce are new each time."""
    first, second = sealed(), sealed()
    assert first.split(b"\n", 1)[1] != second.split(b"\n", 1)[1]
    heads = [json.loads(data.split(b"\n", 1)[0]) for data in (first, second)]
    assert heads[0]["salt"] != heads[1]["salt"]
    assert heads[0]["nonce"] != heads[1]["nonce"]


def test_wrong_passphrase_opens_nothing() -> None:
    """And says so."""
    with pytest.raises(CredentialError, match="wrong passphrase"):
        unseal(sealed(), "wrong horse", source="v")


DATA = sealed()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_any_changed_byte_is_noticed(position: int, change: int) -> None:
    """Header and contents are authenticated as they stand."""
    damaged = bytearray(DATA)
    damaged[position] ^= change
    with pytest.raises(CredentialError):
        unseal(bytes(damaged), "right horse", source="v")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_damage_is_told_apart_from_a_wrong_passphrase(position: int, change: int) -> None:
    """Nobody is sent to remember another passphrase because a disk failed."""
    damaged = bytearray(DATA)
    damaged[position] ^= change
    for passphrase in ("right horse", "wrong horse"):
        with pytest.raises(CredentialError) as caught:
            unseal(bytes(damaged), passphrase, source="v")
        assert "wrong passphrase" not in str(caught.value)


def test_change_by_somebody_is_told_apart_from_both() -> None:
    """Who can write the file can make its digest fit, and is seen all the same."""
    line, rest = DATA.split(b"\n", 1)
    changed = line + b"\n" + bytes([rest[0] ^ 1]) + rest[1:-32]
    forged = changed + hashlib.sha256(changed).digest()

    with pytest.raises(CredentialError, match="changed by something that does not know"):
        unseal(forged, "right horse", source="v")


def test_vault_of_the_first_version_still_opens() -> None:
    """It was made by the first version: no check, no digest."""
    old = bytes.fromhex((Path(__file__).parents[2] / "cases" / "vault-1.hex").read_text())

    assert unseal(old, "right horse", source="v") == ENTRIES
    with pytest.raises(CredentialError, match="wrong passphrase, or"):
        unseal(old, "wrong horse", source="v")


@pytest.mark.parametrize("length", [0, 1, 50, len(DATA) - 1])
def test_cut_file_is_noticed(length: int) -> None:
    """Half a vault is none."""
    with pytest.raises(CredentialError):
        unseal(DATA[:length], "right horse", source="v")


@pytest.mark.parametrize(
    "change",
    [
        {"n": 2**13},
        {"n": 2**21},
        {"n": 2**14 + 1},
        {"n": "16384"},
        {"r": 1},
        {"p": 0},
        {"p": 1000},
        {"salt": "00"},
        {"nonce": ""},
        {"nonce": "zz"},
        {"kdf": "pbkdf2"},
        {"cipher": "none"},
        {"glovebox-vault": 3},
        {"check": ""},
    ],
)
def test_header_outside_what_is_safe_is_refused_before_any_work(change: dict[str, object]) -> None:
    """A hostile file can neither weaken the key nor eat the memory."""
    line, rest = DATA.split(b"\n", 1)
    header = json.loads(line) | change
    with pytest.raises(CredentialError) as caught:
        unseal(json.dumps(header).encode() + b"\n" + rest, "right horse", source="v")
    assert "wrong passphrase" not in str(caught.value)


def test_default_cost_is_not_cheap() -> None:
    """A guess costs 128 MiB."""
    assert Cost().n * Cost().r * 128 == 128 * 1024 * 1024
