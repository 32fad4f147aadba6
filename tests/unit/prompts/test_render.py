"""Rendering is strict, sandboxed and bounded."""

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.render import MOST_CHARACTERS, render


def test_variables_conditions_loops_and_partials():
    """The whole language is there."""
    text = (
        "{% for x in xs %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}{% include 'p' %}"
    )

    assert render(text, {"xs": ["a", "b"], "n": 1}, source="t", partial={"p": "!{{ n }}"}.get) == (
        "a, b!1"
    )


def test_values_are_never_rendered_again():
    """What was typed is text."""
    assert render("{{ a }}", {"a": "{{ b }}", "b": "no"}, source="t") == "{{ b }}"


def test_a_missing_variable_is_an_error_with_the_known_ones():
    """Nothing vanishes in silence."""
    with pytest.raises(PromptError, match=r"/c/output.md: 'modle' is undefined") as error:
        render("{{ modle }}", {"model": "x"}, source="/c/output.md")
    assert "model" in error.value.hint


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\n{% if %}", "t:2: not a template"),
        ("{% include 'gone' %}", "no partial is called gone"),
        ("{{ ''.__class__.__mro__ }}", "t: "),
        ("{{ 1 / 0 }}", "cannot be rendered"),
        ("{{ '{0}'.format() }}", "cannot be rendered"),
        ("{{ 5|xmlattr }}", "cannot be rendered"),
        ("{% for a in [1] %}" * 30 + "x" + "{% endfor %}" * 30, "cannot be rendered"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "t: "),
        ("{% include 'bad' %}", "partial bad"),
        ("{% include 'self' %}", "without end"),
        ("{% for i in range(100000000) %}x{% endfor %}", "cannot be rendered"),
        ("{{ 'a' * 300000 }}", "for small numbers and short texts"),
        ("{{ [0] * 300000 }}", "for small numbers and short texts"),
        ("{{ 99 ** 99 ** 99 }}", "for small numbers and short texts"),
        ("{{ '%999999999d' % 1 }}", "for small numbers and short texts"),
        ("{{ lipsum(9) }}", "'lipsum' is undefined"),
        ("{% for i in range(90000) %}12345{% endfor %}", f"at most {MOST_CHARACTERS} characters"),
    ],
)
def test_what_cannot_be_rendered_is_told_with_its_place(text, reason):
    """One kind of error, whatever went wrong."""
    with pytest.raises(PromptError, match=reason):
        render(text, {}, source="t", partial={"bad": "{% x %}", "self": "{% include 'self' %}"}.get)


@pytest.mark.parametrize(
    "text",
    [
        "{{ a * 9 }}",
        "{{ 7 % 2 + 3 ** 2 }}",
        "{% set b = a ~ a %}",
        "{{ a.upper() }}",
        "{{ range(9) }}",
    ],
)
def test_a_projects_text_keeps_to_the_small_language(text):
    """The same text is fine in the user's own folder."""
    render(text, {"a": "x"}, source="t")
    with pytest.raises(PromptError, match=r"t:1: .* is not for a project's own texts"):
        render(text, {"a": "x"}, source="t", plain=True)
