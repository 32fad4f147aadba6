from pathlib import Path

import pytest

from orchestrator.config.paths import Paths
from orchestrator.credentials.passphrase import VARIABLE
from orchestrator.errors import CredentialError
from orchestrator.harness.keys import open_key_store, passphrase_asker


def test_opening_the_store_touches_nothing(tmp_path: Path) -> None:
    """No file, no keyring, no question before a key is looked for."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    store = open_key_store(paths, {"OPENAI_API_KEY": "x"})
    assert store.get("openai") is not None
    assert list(tmp_path.iterdir()) == []


def test_passphrase_comes_from_the_file_the_environment_names(tmp_path: Path) -> None:
    """So that runs without a terminal can open the vault."""
    path = tmp_path / "p"
    path.write_text("right horse\n")
    path.chmod(0o600)
    assert passphrase_asker({VARIABLE: str(path)})(new=True) == "right horse"
    path.write_text("\n")
    with pytest.raises(CredentialError, match="got nothing"):
        passphrase_asker({VARIABLE: str(path)})(new=False)
