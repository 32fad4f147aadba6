import pytest

from orchestrator.workspace.git_settings import command_settings, hook_directory, parse_settings


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tfsmonitor = ./x\n",
        "[core] hooksPath=.husky/_\n",
        "[CORE]\nSSHCommand = evil\n",
        '[filter "x"]\n smudge = ./x\n',
        '[diff "pdf"]\n textconv = ./x\n',
        "[diff]\nexternal = ./x\n",
        "[credential]\nhelper = !x\n",
        '[credential "https://x"]\nhelper = x\n',
        "[gpg]\nprogram = ./x\n",
        "[alias]\nst = !evil\n",
        "[include]\npath = ../evil\n",
        '[includeIf "gitdir:/"]\npath = evil\n',
        '[merge "m"]\ndriver = x\n',
        "[sequence]\neditor = x\n",
        '[remote "o"]\nuploadpack = x\n',
    ],
)
def test_setting_that_runs_a_command_is_found(text):
    """The whole family counts, in any case and on any line form."""
    assert len(command_settings(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[core]\nbare = false\n",
        "[alias]\nst = status\n",
        '[remote "o"]\nurl = x\n',
        "fsmonitor = x",
        "",
    ],
)
def test_harmless_setting_is_not(text):
    """A warning for everything is a warning for nothing."""
    assert command_settings(text) == ()


def test_last_hook_directory_wins():
    """As in git."""
    assert hook_directory("[core]\nhooksPath = a\nhooksPath = b\n") == "b"
    assert hook_directory("[core]\nbare = true\n") == ""


def test_subsection_with_a_bracket_and_quotes_is_read():
    """Names in quotes may hold anything."""
    found = dict(parse_settings('[filter "a]b"]\nclean = "x y"\n'))

    assert found == {"filter.a]b.clean": "x y"}
