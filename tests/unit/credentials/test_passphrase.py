import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from orchestrator.credentials.passphrase import VARIABLE, passphrase_from_file
from orchestrator.errors import CredentialError

PROGRAM = (
    "from orchestrator.credentials.passphrase import ask_hidden\n"
    "answer = ask_hidden('Word: ')\n"
    "print('length', len(answer))\n"
)


def test_first_line_of_a_private_file_is_the_passphrase(tmp_path: Path) -> None:
    """A line break at the end is no part of it; spaces are."""
    path = tmp_path / "p"
    path.write_text(" right horse \nsecond line\n")
    path.chmod(0o600)
    assert passphrase_from_file({VARIABLE: str(path)}) == " right horse "
    path.write_text("")
    assert passphrase_from_file({VARIABLE: str(path)}) == ""
    assert passphrase_from_file({}) is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """A passphrase that others can read protects nothing."""
    path = tmp_path / "p"
    path.write_text("right horse")
    path.chmod(mode)
    with pytest.raises(CredentialError, match="only its owner") as caught:
        passphrase_from_file({VARIABLE: str(path)})
    assert "right horse" not in str(caught.value)


def test_pipe_or_missing_file_is_refused_at_once(tmp_path: Path) -> None:
    """Nothing waits for a writer that never comes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(CredentialError, match="regular file"):
        passphrase_from_file({VARIABLE: str(pipe)})
    with pytest.raises(CredentialError, match="absent"):
        passphrase_from_file({VARIABLE: str(tmp_path / "absent")})


def test_typed_word_is_not_shown() -> None:
    """On a real terminal, the echo is off while it is typed."""
    child = pexpect.spawn(sys.executable, ["-c", PROGRAM], encoding="utf-8", timeout=20)
    child.expect_exact("Word: ")
    child.waitnoecho(5)
    child.sendline("hunter2hunter2")
    child.expect_exact("length 14")
    child.expect(pexpect.EOF)
    assert "hunter2" not in (child.before or "")
    child.close()


def test_without_a_terminal_nothing_is_asked() -> None:
    """A secret is never read with its echo on."""
    order = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        order, input="typed", text=True, capture_output=True, start_new_session=True, check=False
    )
    assert done.returncode != 0
    assert "CredentialError: no terminal" in done.stderr
    assert "length" not in done.stdout
