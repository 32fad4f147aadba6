"""How known agents are made to ask: by arguments alone."""

import json
import tomllib

import pytest

from orchestrator.harness.wrap.gate.clients import connect


def test_claude_gets_hooks_that_a_projects_settings_cannot_turn_off():
    """For every tool, with time for a person to answer."""
    found = connect(["/dirs/x/claude", "-p", "do it"])

    assert found.client == "claude"
    assert (found.argv[0], found.argv[3:]) == ("/dirs/x/claude", ("-p", "do it"))
    settings = json.loads(found.argv[2])
    assert settings["disableAllHooks"] is False
    [hook] = settings["hooks"]["PreToolUse"]
    assert hook["matcher"] == "*"
    assert hook["hooks"][0]["command"].endswith("glovebox-gate claude")
    assert hook["hooks"][0]["timeout"] >= 3600


def test_pi_gets_an_extension_behind_an_interpreter_too():
    """The words that are its own follow."""
    found = connect(["node", "/x/.bin/pi", "-p", "q"])

    assert found.argv == (
        "node",
        "/x/.bin/pi",
        "--extension",
        "/opt/glovebox/toolserver/gate_pi.mjs",
        "-p",
        "q",
    )


def test_codex_gets_a_hook_by_its_configuration():
    """Before its own words, as a value of TOML that says the same."""
    found = connect(["codex", "exec", "q"])
    configured = [found.argv[at + 1] for at, word in enumerate(found.argv) if word == "-c"]
    [hook] = [tomllib.loads(f"x={word.partition('=')[2]}")["x"][0] for word in configured[1:]]

    assert found.argv[1] == "--dangerously-bypass-hook-trust"
    assert found.argv[-2:] == ("exec", "q")
    assert hook["matcher"] == "*"
    assert hook["hooks"][0]["command"].endswith("glovebox-gate codex")


@pytest.mark.parametrize(
    "argv",
    [
        ["gemini", "-p", "q"],
        ["claude", "--bare", "-p", "x"],
        ["claude", "--settings", "{}"],
        ["claude", "--settings={}"],
        ["sh", "-c", "claude"],
        ["make"],
        ["a", "b", "pi"],
    ],
)
def test_what_cannot_be_made_to_ask_is_left_alone(argv):
    """An agent without hooks, one that is told to run none, another program."""
    assert connect(argv) is None
