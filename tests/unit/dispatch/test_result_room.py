"""A result is bounded before the call where it can be, and shortened where nobody could know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.dispatch.result_room import LEAST, ResultRoom
from orchestrator.schema.request import (
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    Look,
    ProcessOutput,
    ReadRequest,
)
from orchestrator.schema.text_tokens import text_tokens

READ = ReadRequest("/workspace/a")
SEARCHES = [GrepRequest("x", "/w"), FindRequest("x", "/w"), ListRequest("/w")]


@pytest.mark.parametrize(
    ("tokens", "size"), [(25_000, 50_000), (24_999, 25_000), (3_125, 6_250), (600, 1_562)]
)
def test_file_is_read_as_far_as_there_is_room(tokens, size):
    """By halves, so that a question answered once is the same question a turn later."""
    assert ResultRoom(tokens).narrowed(READ).max_bytes == size


@pytest.mark.parametrize("search", SEARCHES)
def test_search_asks_for_no_more_matches_than_can_fit(search):
    assert ResultRoom(800).narrowed(search).limit == 100
    assert ResultRoom(100_000).narrowed(search) == search


def test_output_of_a_process_is_read_as_far_as_there_is_room():
    """The rest is there for the next call."""
    narrowed = ResultRoom(5_000).narrowed(ProcessOutput("p", Look(wait_s=3)))

    assert narrowed == ProcessOutput("p", Look(wait_s=3, max_bytes=10_000))


def test_command_cannot_be_bounded_before():
    command = ExecRequest("seq 1 100000", "/w", 10)

    assert ResultRoom(600).narrowed(command) is command


def test_calls_of_a_turn_share_what_is_left():
    """Each has a little, however many there are."""
    assert ResultRoom.shared(10_000, 4).tokens == 2_500
    assert ResultRoom.shared(-5, 4).tokens == LEAST


@given(st.integers(LEAST, 5_000), st.text(max_size=50), st.integers(1, 4_000))
def test_what_is_told_fits_and_keeps_its_ends(tokens, piece, times):
    output = f"begin {piece * times} [go on with offset=7]"
    told = ResultRoom(tokens).fitted(output)

    assert text_tokens(told) <= tokens
    assert (told == output) == (text_tokens(output) <= tokens)
    assert told.startswith("begin ")
    assert told.endswith("offset=7]")


def test_shortened_output_says_what_to_do():
    told = ResultRoom(1_000).fitted("x" * 40_000)

    assert "room for about 1000 tokens" in told
    assert "head, tail or grep" in told
