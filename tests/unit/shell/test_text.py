"""Text that is made to look like something else."""

import pytest

from orchestrator.shell.text import find_evasion, is_lookalike
from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "rm\u200b x",
        "echo \u202egnp.exe",
        "echo \u2066x",
        "ls \x1b[2K\x1b[1A; x",
        "echo a\rb",
        "ls \x7f",
        "echo \x9b31m",
        "\ufeffls",
        "echo '\u2060'",
        "ls # \u200e",
        "echo \U000e0041",
        "ls\u2028x",
        "ls" + " " * 200 + "; x",
        "ls" + "\n" * 30 + "x",
        "ls\u00a0-la",
        "git\u2009push",
        "ls \u2013rf",
        "\uff52\uff4d -rf x",
        "r\u043c -rf x",
        "curl https://ex\u0430mple.com",
        "echo \u3164",
    ],
)
def test_hidden_or_misleading_text_is_evasion(command):
    """What a person sees must be what runs."""
    assert "evasion" in risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo 'é ñ ü'",
        "echo 日本語 привет עברית العربية",
        "git commit -m '👩‍💻 fix'",
        "echo ✔️ ❤️ #️⃣",
        "cat файл.txt",
        "echo a — b",
        "echo '  indented        text'",
        "cat <<'E'\n\n\n\nx\nE",
        "curl https://münchen.example/",
        "echo 'prix : 5 €'",
    ],
)
def test_honest_text_of_any_script_is_fine(command):
    """Other languages are no attack."""
    assert risks(command) == set()


def test_padding_at_the_end_hides_nothing():
    """Blanks with nothing behind them are just blanks."""
    assert list(find_evasion("ls" + " " * 5000)) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("git", False),
        ("g\u0456t", True),
        ("\uff52\uff4d", True),
        ("müller", False),
        ("файл", False),
    ],
)
def test_lookalike_is_mixed_or_reads_as_ascii(name, expected):
    """A foreign name is fine, a name that passes for another is not."""
    assert is_lookalike(name) is expected
