"""``/name words`` into text."""

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.expand import expand, literal
from orchestrator.prompts.library import Shelf, library_of, shipped_shelf

LIBRARY = library_of(
    [
        shipped_shelf(),
        Shelf(
            "user",
            "/u",
            {
                "greet": "---\narguments: {who: {}, times: {type: integer, default: 1}}\n---\n"
                "{% for i in range(times) %}Hi {{ who }}. {% endfor %}",
                "say": "As is: {{ said }}",
                "fixed": "Always this.",
                "bad": "---\nx",
            },
        ),
    ]
)


def test_a_call_becomes_its_template():
    """With what was said in it, and nothing rendered twice."""
    made = expand(" /greet Bob times=2 ", LIBRARY)

    assert (made.name, made.text, made.source) == ("greet", "Hi Bob. Hi Bob.", "/u/greet.md")
    assert expand("/say {{ 7 * 7 }} costs $5\nand more", LIBRARY).text == (
        "As is: {{ 7 * 7 }} costs $5\nand more"
    )
    assert expand("/fixed", LIBRARY).text == "Always this."
    assert "Run this" in expand("/fix make test", LIBRARY).text


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts is wrong",
        "/tmp is full",
        "/ what",
        "//greet Bob",
        "say /greet Bob",
        "/Greet Bob",
        "",
        "/",
        "/compact-summary",
    ],
)
def test_anything_else_is_said_as_it_is(text):
    """A path is no call, nor is what the program uses itself."""
    assert expand(text, LIBRARY) is None


def test_two_slashes_say_one():
    """The way to say what would be a call; a path keeps what it has."""
    assert literal("//greet Bob") == "/greet Bob"
    assert literal("/greet") == "/greet"
    assert literal("//server/share is gone") == "//server/share is gone"
    assert literal("hello") == "hello"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("/greeet Bob", "no template is called greeet", "did you mean /greet? //greeet says it"),
        ("/greet", "who is missing", "usage: /greet WHO [TIMES]"),
        ("/greet Bob x", "times: expected a whole number", "usage: "),
        ("/fixed now", "expected no arguments", "usage: /fixed"),
        ("/bad", "/u/bad.md:1: ", ""),
    ],
)
def test_a_call_that_cannot_be_is_no_silent_prompt(text, message, hint):
    """The model never gets a command that was meant for the program."""
    with pytest.raises(PromptError) as error:
        expand(text, LIBRARY)

    assert message in error.value.message
    assert hint in error.value.hint
