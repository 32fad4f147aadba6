"""What was typed, and what the model is told."""

import pytest

from orchestrator.cli.saying import Typed, understood
from orchestrator.config.paths import Paths
from orchestrator.errors import PromptError, UsageError


@pytest.fixture
def say(tmp_path):
    """Say something in a project, with a template of the user's."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    mine = tmp_path / "config/prompts/templates"
    mine.mkdir(parents=True)
    (mine / "greet.md").write_text("Hi {{ said }}!")
    project = tmp_path / "project"
    project.mkdir()
    return lambda text, **more: understood(text, project, paths, **more)


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
    assert say(typed) == Typed(told)


@pytest.mark.parametrize(
    ("typed", "told", "skill"),
    [
        ("/skill review my diff", "my diff", "review"),
        ("/skill:review my diff", "my diff", "review"),
        ("/skill off do it", "do it", "off"),
        ("/skill review /greet Bob", "Hi Bob!", "review"),
        ("//skill review my diff", "/skill review my diff", None),
        ("a /skill off b", "a /skill off b", None),
    ],
)
def test_a_skill_is_named_before_what_is_to_be_done(say, typed, told, skill):
    """As in a chat, and a template may follow."""
    assert say(typed) == Typed(told, skill)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("/skill review", "expected what to do after it"),
        ("/diff", "/diff is a command of glovebox chat"),
        ("/skill off /apply", "/apply is a command of glovebox chat"),
    ],
)
def test_what_only_a_chat_can_do_starts_nothing(say, typed, says):
    with pytest.raises(UsageError, match=says):
        say(typed)


def test_where_a_template_of_ones_own_is_from_is_told(say, capsys):
    """Shipped ones are no news."""
    say("/greet Bob")
    say("/plan it")

    assert capsys.readouterr().err.count("\n") == 1


def test_a_misspelt_call_starts_nothing(say):
    """The next step is told."""
    with pytest.raises(PromptError, match="no template is called gret"):
        say("/gret Bob")


@pytest.mark.parametrize("text", ["/skill off do it", "/greet Bob", "/diff"])
def test_what_comes_by_a_pipe_calls_nothing(say, text):
    assert say(text, piped=True) == Typed(text)
