"""Settings: strict, in order, and with a place in every error."""

import pytest

from orchestrator.config.settings import VARIABLES, Settings, load_settings
from orchestrator.errors import ConfigError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.yaml"


def refusal(path, text=None, environ=None):
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path, environ or {})
    return caught.value


@pytest.mark.parametrize("text", [None, "", "# nothing yet\n"])
def test_nothing_said_gives_the_defaults(path, text):
    """A missing file is an empty one."""
    if text is not None:
        path.write_text(text)

    assert load_settings(path, {}) == Settings()


def test_file_sets_what_it_names(path):
    """Lists as lists or with commas."""
    path.write_text("model: anthropic/x\npolicy: strict,./team.yaml\ntools: [read, grep]\n")
    settings = load_settings(path, {})

    assert settings.model == "anthropic/x"
    assert settings.policy == ("strict", "./team.yaml")
    assert settings.tools == ("read", "grep")


def test_environment_wins_over_the_file(path):
    """Later wins: default, file, variable."""
    path.write_text("model: from-file\nimage: kept\n")
    environ = {
        "GLOVEBOX_MODEL": "from-env",
        "GLOVEBOX_TOOLS": "read,ls",
        "GLOVEBOX_WORKSPACE": "copy",
    }
    settings = load_settings(path, environ)

    assert (settings.model, settings.image) == ("from-env", "kept")
    assert (settings.tools, settings.workspace) == (("read", "ls"), "copy")


def test_empty_variable_says_nothing(path):
    """It is how people switch one off."""
    path.write_text("model: from-file\n")

    assert load_settings(path, {"GLOVEBOX_MODEL": ""}).model == "from-file"


def test_every_variable_names_a_setting():
    """And GLOVEBOX_ plus its name."""
    assert all(VARIABLES[f"GLOVEBOX_{name.upper()}"] == name for name in VARIABLES.values())
    assert set(VARIABLES.values()) <= set(Settings.model_fields)


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        ("modle: x\n", "modle: no such setting", "model"),
        ("workspce: copy\n", "workspce: no such setting", "workspace"),
        ("approvals: {notfy: [x]}\n", "approvals.notfy", "notify"),
        ("approvals: {webhook: {url: x, kee: y}}\n", "approvals.webhook.kee", "key"),
        (
            "providers: {own: {api: openai-chat, baseurl: 'http://h'}}\n",
            "providers.own.baseurl",
            "base_url",
        ),
        (
            "providers: {own: {models: {m: {context: 5}}}}\n",
            "providers.own.models.m.context",
            "context_window",
        ),
    ],
)
def test_unknown_setting_is_an_error_with_the_nearest_name(path, text, place, meant):
    """No misspelling is read as silence."""
    error = refusal(path, text)

    assert str(path) in error.message
    assert place in error.message
    assert error.hint == f"did you mean '{meant}'?"


def test_unknown_setting_like_no_other_gets_no_guess(path):
    """A wild guess would help nobody."""
    assert refusal(path, "zzz: 1\n").hint == ""


@pytest.mark.parametrize(
    "text",
    ["model: [a]\n", "workspace: overlai\n", "tools: 5\n", "providers: {x: {base_url: ftp://h}}\n"],
)
def test_value_of_another_form_is_refused(path, text):
    """The setting is named; the hint does not repeat its own name."""
    error = refusal(path, text)

    assert str(path) in error.message
    assert "did you mean" not in error.hint


def test_wrong_variable_is_named_and_not_the_file(path):
    """The place is where the mistake is."""
    path.write_text("model: fine\n")
    error = refusal(path, environ={"GLOVEBOX_WORKSPACE": "overlai"})

    assert error.message.startswith("GLOVEBOX_WORKSPACE: ")
    assert str(path) not in error.message


@pytest.mark.parametrize(
    "text",
    ["model: [\n", "a: b: hunter2-secret\n", "model: 2026-99-99\n", "- model\n", "x", "\x00"],
    ids=["open", "two-colons", "no-date", "list", "text", "nul"],
)
def test_file_that_is_no_mapping_is_refused_without_repeating_it(path, text):
    """A configuration file may hold what must not be shown."""
    error = refusal(path, text)

    assert str(path) in error.message
    assert "hunter2-secret" not in error.message


def test_file_that_is_no_text_is_refused(path):
    """Bytes that are not UTF-8."""
    path.write_bytes(b"model: \xff\xfe\n")

    assert "not YAML" in refusal(path).message


def test_file_that_cannot_be_read_is_refused(path):
    """A folder in its place is no missing file."""
    path.mkdir()

    assert "cannot be read" in refusal(path).message


def test_value_that_is_refused_is_not_repeated(path):
    """It may be a key in the wrong place."""
    error = refusal(path, "providers: {own: {headers: {Authorization: hunter2-secret}}}\n")

    assert "hunter2-secret" not in error.message + error.hint
