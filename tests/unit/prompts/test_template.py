"""Reading one template's file."""

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.template import parse_template


def parse(text, name="t"):
    return parse_template(name, text, source="/f/t.md", tier="user")


def test_head_and_body_are_told_apart():
    """A line of dashes in the body is the body's."""
    made = parse("---\r\ndescription: d\r\narguments:\r\n  a: {}\r\n---\r\n{{ a }}\n---\nx")

    assert made.head.description == "d"
    assert made.head.arguments["a"].type == "text"
    assert made.body == "{{ a }}\n---\nx"


def test_a_text_without_a_head_is_a_template():
    """A plain note is enough."""
    assert parse("Do it: {{ said }}").usage == "/t TEXT"
    assert parse("I said so.").usage == "/t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\ndescription: d\n", "/f/t.md:1: the head that begins with --- does not end"),
        ("---\na: [\n---\nx", "/f/t.md:2: not YAML"),
        ("---\n- a\n---\nx", "/f/t.md:2: expected a mapping"),
        ("---\ndescripton: d\n---\nx", "/f/t.md:2: descripton: "),
        ("---\narguments: {a: {type: color}}\n---\nx", "/f/t.md:2: arguments.a.type: "),
        ("---\ndescription: d\narguments:\n  a:\n    type: color\n---\nx", "/f/t.md:5: "),
        ("---\narguments:\n  b: {}\n  A: {}\n---\nx", "/f/t.md:4: "),
        ("---\narguments: {said: {}}\n---\nx", "'said' cannot be a name"),
        ("---\narguments:\n  self: {}\n---\nx", "/f/t.md:3: arguments: 'self' cannot be a name"),
        (
            "---\narguments:\n  n: {type: integer, default: x}\n---\nx",
            "/f/t.md:3: arguments.n: default: expected a whole number",
        ),
        ("---\narguments: {A-b: {}}\n---\nx", "'A-b' cannot be a name"),
        ("---\nx: &a [1]\narguments: {b: *a}\n---\nx", "with an alias"),
        ("---\ndescription: d\n---\n \n", "expected a text below the head"),
        (f"---\n# {'x' * 9000}\n---\nx", "a head of at most"),
    ],
)
def test_what_is_no_template_is_told_with_its_place(text, message):
    """So that its author finds it."""
    with pytest.raises(PromptError) as error:
        parse(text)

    assert message in error.value.message


@pytest.mark.parametrize("name", ["A", "a b", "", "a/b", "x" * 65, "-a"])
def test_a_name_that_cannot_be_typed_is_refused(name):
    """After a slash, up to a space."""
    with pytest.raises(PromptError, match="expected a name"):
        parse("x", name=name)
