"""Templates called in a chat, and what is none."""

import json

import pytest

from orchestrator.cli.chat.calling import template_helps

pytestmark = pytest.mark.docker

TEMPLATE = """---
description: look for one thing
arguments:
  what: {type: choice, choices: [bugs, leaks]}
---
Look for {{ what }} everywhere.
"""


@pytest.fixture
def template(chat):
    folder = chat.paths.config / "prompts" / "templates"
    folder.mkdir(parents=True)
    (folder / "hunt.md").write_text(TEMPLATE)
    return chat


def told_the_model(chat):
    [file] = chat.paths.sessions.rglob("*.jsonl")
    entries = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    bodies = [entry["body"] for entry in entries if entry["type"] == "message"]
    return [body["content"][-1]["text"] for body in bodies if body["role"] == "user"]


def test_template_is_said_in_place_of_its_call(template):
    _, answers, told = template({"text": "found"}, said=["/hunt bugs", "/help"])

    assert answers == ["found"]
    assert told_the_model(template) == ["Look for bugs everywhere."]
    assert "look for one thing" in told
    assert "hunt" in [name for name, _, _ in template_helps(template.project, template.paths)]


def test_words_that_do_not_fit_are_told_with_the_usage(template):
    _, answers, told = template({"text": "x"}, said=["/hunt birds", "/huntt bugs", "go on"])

    assert answers == ["x"]
    assert "bugs" in told
    assert "did you mean /hunt?" in told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/nosuchcmd hello", "/nosuchcmd: there is no such command or template (/help lists them;"),
        ("/test", "did you mean /tests?"),
        ("/hun birds", "did you mean /hunt?"),
        ("/modell", "did you mean /model?"),
        ("/review this", "did you mean /skill review"),
        ("/etc", "//etc says it as it is"),
    ],
)
def test_unknown_name_is_told_with_what_is_like_it_and_said_to_nobody(template, line, told):
    _, answers, notes = template({"text": "x"}, said=[line, "go on"])

    assert told in notes
    assert answers == ["x"]
    assert told_the_model(template) == ["go on"]


def test_path_is_said_as_it_is(template):
    """And so is what stands after two slashes."""
    turns = ({"text": "a"}, {"text": "b"})
    template(*turns, said=["/etc/hosts has what?", "//hunt bugs"])

    assert told_the_model(template) == ["/etc/hosts has what?", "/hunt bugs"]
