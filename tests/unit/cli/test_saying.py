"""What was typed, and what the model is told."""

import pytest

from orchestrator.cli.saying import expanded
from orchestrator.config.paths import Paths
from orchestrator.errors import PromptError


@pytest.fixture
def say(tmp_path):
    """Say something in a project, with a template of the user's."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    mine = tmp_path / "config/prompts/templates"
    mine.mkdir(parents=True)
    (mine / "greet.md").write_text("Hi {{ said }}!")
    project = tmp_path / "project"
    project.mkdir()
    return lambda text: expanded(text, project, paths)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("do it", "do it"),
        (None, None),
        ("/greet Bob", "Hi Bob!"),
        ("//greet Bob", "/greet Bob"),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
    ],
)
def test_only_a_call_of_a_template_is_replaced(say, typed, told):
    """Everything else is what the person said."""
    assert say(typed) == told


def test_where_a_template_of_ones_own_is_from_is_told(say, capsys):
    """Shipped ones are no news."""
    say("/greet Bob")
    say("/plan it")

    assert capsys.readouterr().err.count("\n") == 1


def test_a_misspelt_call_starts_nothing(say):
    """The next step is told."""
    with pytest.raises(PromptError, match="no template is called gret"):
        say("/gret Bob")
