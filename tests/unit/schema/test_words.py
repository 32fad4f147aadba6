"""All shared words are frozen: what was judged cannot change before it runs."""

import dataclasses
import inspect

import pytest

from orchestrator.schema import decision, event, message, mount, outcome, posture, request

WORDS = [
    found
    for module in (decision, event, message, mount, outcome, posture, request)
    for found in vars(module).values()
    if inspect.isclass(found) and dataclasses.is_dataclass(found)
    if found.__module__ == module.__name__
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.__name__)
def test_word_is_frozen_and_takes_no_stray_field(word):
    """Neither assignment nor a misspelled attribute goes through."""
    assert word.__dataclass_params__.frozen
    assert "__slots__" in vars(word)


def test_outcome_without_an_error_is_a_success():
    """The box says so by leaving it out."""
    assert (outcome.Outcome().error, outcome.Outcome().code) == (None, None)
