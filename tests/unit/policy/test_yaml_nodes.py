"""Strict YAML with lines."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.yaml_nodes import find, parse_yaml, place_of, plain


def _parse(text: str, **limits):
    return parse_yaml(text, file="p.yaml", **limits)


def test_values_carry_the_line_they_stand_on():
    """Every value knows its file and line, and a key's line is the one shown."""
    tree = _parse("a:\n  b:\n    - x\n    - y\n")

    assert str(place_of(tree, ("a", "b", 1))) == "p.yaml:4"
    assert str(find(tree, ("a", "b")).at) == "p.yaml:2"


def test_place_of_something_missing_is_its_nearest_parent():
    """A missing key is reported where it should have stood."""
    tree = _parse("a:\n  b: {c: 1}\n")

    assert str(place_of(tree, ("a", "b", "nope", 3))) == "p.yaml:2"
    assert str(place_of(tree, ("z",))) == "p.yaml:1"
    assert find(tree, ("a", 0)) is None


def test_words_that_yaml_1_1_converts_stay_text():
    """yes, on, no and 12:30 are text; only true and false are switches."""
    tree = _parse("a: [yes, on, no, 12:30, 1_000, 0x1f, true, 'true', 7, -3, 1.5, ~, null]")

    assert plain(tree) == {
        "a": (
            *("yes", "on", "no", "12:30", "1_000", "0x1f"),
            *(True, "true", 7, -3, 1.5, None, None),
        )
    }


def test_empty_text_is_a_document_without_a_value():
    """Nothing is read as nothing, not as an empty mapping."""
    assert _parse("").value is None
    assert _parse("# only a comment\n").value is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "p.yaml:3: key 'a' is given twice, first on p.yaml:1"),
        ("a: !!python/name:os.system x\n", "p.yaml:1: tag"),
        ("a: &x [1, *x]\n", "p.yaml:1: alias *x refers to itself"),
        ("a: *x\n", "p.yaml:1: alias *x has no anchor before it"),
        ("a: 1\n---\nb: 2\n", "p.yaml:2: a second document"),
        ("? [a]\n: 1\n", "p.yaml:1: a key must be plain text"),
        ("a: [1,\n  2\n", "p.yaml:3: this is not YAML"),
        ("a: 1\nb: \x07\n", "p.yaml:2: control character"),
        ("a: " + "[" * 30 + "]" * 30, "p.yaml:1: nested deeper than 24 levels"),
    ],
)
def test_text_that_is_not_strict_yaml_is_refused_with_its_line(text, message):
    """A mistake is named with file and line, before anything is built from it."""
    with pytest.raises(PolicyError) as caught:
        _parse(text)

    assert str(caught.value).startswith(message)


def test_alias_repeats_a_value_and_is_counted_at_full_size():
    """Aliases work, but cannot blow a short text up."""
    assert plain(_parse("a: &x [1, 2]\nb: *x\n")) == {"a": (1, 2), "b": (1, 2)}
    bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )

    with pytest.raises(PolicyError, match="aliases counted"):
        _parse(bomb)


def test_text_over_the_size_limit_is_refused_before_parsing():
    """The limit is on the text itself."""
    with pytest.raises(PolicyError, match=r"p.yaml:1: file is too large"):
        _parse("a: [", max_bytes=3)
