"""Templates and calls of them, whatever is written: a text or a PromptError, and nothing else."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import PromptError
from orchestrator.prompts.arguments import split_words
from orchestrator.prompts.expand import expand
from orchestrator.prompts.library import library_of, shipped_shelf
from orchestrator.prompts.render import render
from orchestrator.prompts.template import parse_template

LIBRARY = library_of([shipped_shelf()])
PIECES = st.sampled_from(
    [
        "{{ a }}",
        "{{ xs[0] }}",
        "{{ a.b }}",
        "{{ gone }}",
        "{% if a %}",
        "{% else %}",
        "{% endif %}",
        "{% for x in xs %}",
        "{% endfor %}",
        "{% include 'p' %}",
        "{{ a|upper }}",
        "{{ a|nope }}",
        "{{ a.format(1) }}",
        "{{ xs|join(a) }}",
        "{{ a[",
        "#}",
        "{#",
        "{% raw %}",
        "text\n",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12), st.booleans())
def test_any_template_is_rendered_or_refused(pieces, plain):
    """No other error comes out, in either language."""
    with contextlib.suppress(PromptError):
        text = render(
            "".join(pieces),
            {"a": "{{ b }}", "xs": ["1", "2"]},
            source="t",
            plain=plain,
            partial={"p": "{{ a }}"}.get,
        )
        assert isinstance(text, str)


@given(st.text(max_size=200), st.sampled_from(["", "---\n", "---\narguments: {a: {type: "]))
def test_any_file_is_a_template_or_none(text, beginning):
    """What a stranger wrote stops nothing."""
    with contextlib.suppress(PromptError):
        parse_template("t", beginning + text, source="t.md", tier="project")


@given(st.text(max_size=80))
def test_what_is_said_reaches_the_template_as_it_was_said(said):
    """It is neither rendered nor lost; outer white space and outer quotes aside."""
    with contextlib.suppress(PromptError):
        made = expand(f"/plan {said}", LIBRARY)
        assert made is not None
        words = split_words(said)
        kept = words[0].text if len(words) == 1 else said
        assert kept.partition("=")[2 if kept.startswith("goal=") else 0].strip() in made.text


@given(st.text(max_size=80))
def test_words_are_found_where_they_stand(text):
    """Each word is a piece of the line, in order, and no white space is part of a bare one."""
    last = -1
    for word in split_words(text):
        assert word.start > last
        last = word.start
        assert word.text in text
        assert word.quoted or not any(character.isspace() for character in word.text)
