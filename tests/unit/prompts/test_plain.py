"""What a project's texts may use cannot run away."""

import pytest
from jinja2 import Environment

from orchestrator.prompts.plain import Complexity, check_plain


def check(text, partials=None):
    environment = Environment(autoescape=False)
    check_plain(environment.parse(text), environment, (partials or {}).get)


@pytest.mark.parametrize(
    "text",
    [
        "{{ a }} {{ a.b }} {{ a[0] }} {{ a|join(', ') }}",
        "{% if a and not b %}x{% elif a == 'c' %}y{% else %}z{% endif %}",
        "{% for x in a %}{{ loop.index }} {{ x|upper }}{% endfor %}",
        "{{ 'x' if a is defined else 'y' }}",
    ],
)
def test_variables_conditions_and_one_loop_are_enough(text):
    """What instructions need."""
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'a' * 999999999 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ a|center(999999999) }}",
        "{{ a|format(1) }}",
        "{{ a|indent(999999999) }}",
        "{{ range(9) }}",
        "{{ a() }}",
        "{% set a = a ~ a %}",
        "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}",
        "{% for x in a %}{% for y in a %}{% endfor %}{% endfor %}",
        "{% for x in a %}{% include 'p' %}{% endfor %}",
        "{% for x in a recursive %}{% endfor %}",
        "{% include a %}",
        "{% extends 'p' %}",
        "{% import 'p' as p %}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ a|join(a) }}",
        "{{ a|join('12345678901234567') }}",
        "{{ a|join(d=a) }}",
        "{{ a|join(*a) }}",
        "{{ a|join('1')|upper|join('1') }}",
        "{{ (b if a|join('1') else a)|join('1') }}",
    ],
)
def test_what_could_grow_or_run_without_end_is_refused(text):
    """Each of these is cheap to write and dear to render."""
    with pytest.raises(Complexity):
        check(text, {"p": "x"})


def test_partials_are_held_to_the_same_and_include_nothing():
    """A chain of partials that include each other twice would double with each."""
    check("{% include 'p' %}", {"p": "{{ a }}"})
    with pytest.raises(Complexity):
        check("{% include 'p' %}", {"p": "{{ a * 9 }}"})
    with pytest.raises(Complexity):
        check("{% include 'p' %}", {"p": "{% include 'q' %}", "q": "x"})


def test_a_partial_is_read_once_however_often_it_is_included():
    """Reading is what costs, and the result is bounded elsewhere."""
    read = []

    def partial(name):
        read.append(name)
        return "x"

    environment = Environment()
    check_plain(environment.parse("{% include 'p' %}" * 50), environment, partial)

    assert read == ["p"]
