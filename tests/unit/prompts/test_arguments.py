"""Typed arguments, from words and from values."""

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.arguments import (
    Argument,
    bind_values,
    bind_words,
    split_words,
    usage_of,
)

TEXT = Argument()
COUNT = Argument(type="integer", default=3)
LEVEL = Argument(type="choice", choices=["low", "high"], default="low")
LOUD = Argument(type="boolean")
FILES = Argument(type="list")
RATE = Argument(type="number")


def bind(said, **declared):
    return bind_words(declared, said, usage="/t")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a "b c" d', ["a", "b c", "d"]),
        ("doesn't work", ["doesn't", "work"]),
        ('"unclosed a b', ['"unclosed', "a", "b"]),
        ('"" b', ["", "b"]),
        ("'it' x", ["it", "x"]),
        ('a"b c"', ['a"b', 'c"']),
        ('"a"b', ['"a"b']),
        ("  a\n\tb ", ["a", "b"]),
        ("", []),
    ],
)
def test_quotes_hold_words_together_where_a_word_begins(text, words):
    """An apostrophe is no quote."""
    assert [word.text for word in split_words(text)] == words


def test_words_fill_arguments_in_their_order_with_their_types():
    """What is left out has its default."""
    assert bind("a 5", what=TEXT, count=COUNT) == {"what": "a", "count": 5}
    assert bind("a", what=TEXT, count=COUNT, level=LEVEL, loud=LOUD, files=FILES) == {
        "what": "a",
        "count": 3,
        "level": "low",
        "loud": False,
        "files": [],
    }


def test_named_words_stand_anywhere_and_only_for_declared_names():
    """An assignment that nobody declared is text."""
    bound = bind("level=high a loud=yes FOO=1", what=TEXT, level=LEVEL, loud=LOUD)

    assert bound == {"what": "a FOO=1", "level": "high", "loud": True}


def test_a_last_text_takes_the_rest_as_it_was_typed():
    """No quotes are needed for a sentence, and none are lost in it."""
    assert bind('2 how  does "it"\nstop', count=COUNT, what=TEXT)["what"] == 'how  does "it"\nstop'
    assert bind('"how it"', what=TEXT)["what"] == "how it"


def test_a_list_takes_all_words_left():
    """Named, it is one word with commas."""
    assert bind("1.5 a b", rate=RATE, files=FILES) == {"rate": 1.5, "files": ["a", "b"]}
    assert bind("1.5 files=a,b", rate=RATE, files=FILES)["files"] == ["a", "b"]


@pytest.mark.parametrize(
    ("said", "declared", "message"),
    [
        ("", {"what": TEXT}, "what is missing"),
        ("x", {"count": COUNT}, "count: expected a whole number of at most 15 digits, got 'x'"),
        ("9999999999999999", {"count": COUNT}, "of at most 15 digits, got '9999999999999999'"),
        (f"-{'9' * 5000}", {"count": COUNT}, "of at most 15 digits, got '-9999"),
        ("files=1,,2", {"files": FILES}, "files: expected texts with one comma between them, got"),
        ("files=", {"files": FILES}, "files: expected texts with one comma between them, got ''"),
        ("nan", {"rate": RATE}, "rate: expected a number"),
        ("inf", {"rate": RATE}, "rate: expected a number"),
        ("mid", {"level": LEVEL}, "level: expected one of low, high, got 'mid'"),
        ("loud=perhaps", {"loud": LOUD}, "loud: expected yes or no"),
        ("1 2", {"count": COUNT}, "expected 1 arguments, got more: '2'"),
        ("x", {}, "expected no arguments"),
        ("count=1 count=2", {"count": COUNT}, "count: given twice"),
    ],
)
def test_words_that_do_not_fit_are_told_with_the_usage(said, declared, message):
    """Place, expected, got, and how it is called."""
    with pytest.raises(PromptError) as error:
        bind(said, **declared)

    assert message in error.value.message
    assert error.value.hint == "usage: /t"


def test_values_of_a_program_are_held_to_the_same():
    """No conversion there: a text is no number."""
    assert bind_values({"what": TEXT, "loud": LOUD}, {"what": "x"}, name="t") == {
        "what": "x",
        "loud": False,
    }
    for values in ({"what": 1}, {"what": "x", "wat": "y"}, {}):
        with pytest.raises(PromptError, match="template t: "):
            bind_values({"what": TEXT}, values, name="t")


def test_a_default_of_another_type_and_choices_without_need_are_refused():
    """A mistake of the author is found when the file is read."""
    for form in (
        {"type": "integer", "default": "x"},
        {"type": "integer", "default": True},
        {"type": "choice"},
        {"type": "choice", "choices": ["a"], "default": "b"},
        {"choices": ["a"]},
    ):
        with pytest.raises(ValueError, match=r"expected|choices"):
            Argument.model_validate(form)


def test_usage_shows_what_may_be_left_out():
    """On one line."""
    declared = {"what": TEXT, "level": LEVEL, "loud": LOUD, "files": FILES}

    assert usage_of("t", declared) == "/t WHAT [low|high] [loud=yes] [FILES…]"
