"""Whatever is said, called, shown, left, switched or not summarised: every request fits its window.

What is held of each request is in ``tests.support.talks``: it fits by the reckoning, the provider
takes it, and asking for it again neither changes it nor summarises anew. Here: the session can be
taken up again, and summaries stay few.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.context.sizes import message_tokens
from orchestrator.context.speech import Speech
from orchestrator.schema.head_event import CompactionEnd, CompactionStart
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.talks import Failing, LongTalk, Turn, held, workday

HEADER = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
SIZES = st.sampled_from([1, 20, 300, 1_500, 9_000, 60_000])
ROUNDS = st.lists(st.lists(SIZES, min_size=1, max_size=4).map(tuple), max_size=3).map(tuple)
WINDOWS = st.sampled_from([3_000, 6_000, 12_000, 40_000])
TURNS = st.builds(
    Turn,
    said=SIZES,
    script=st.integers(0, 4),
    results=ROUNDS,
    pictures=st.integers(0, 3),
    answer=st.sampled_from([1, 100, 700]),
    back=st.none() | st.integers(0, 40),
    window=st.none() | WINDOWS,
    system=st.none() | st.sampled_from([1, 500, 1_200]),
    broken=st.booleans(),
)
FACTORS = st.sampled_from([0, 0.6, 1.0, 1.4])


def talk_of(store, window, *, plan=(), factor=1.0, size=100):
    return LongTalk(store, window, Failing(plan, size, window=4_000), factor)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TURNS, min_size=1, max_size=12), WINDOWS, st.lists(st.booleans(), max_size=4), FACTORS
)
def test_every_request_fits_and_the_session_can_be_taken_up(
    tmp_path_factory, turns, window, plan, factor
):
    """Also where summaries fail: then nothing is sent, and once they come again all goes on."""
    path = tmp_path_factory.mktemp("talk") / "s.jsonl"
    with SessionStore.create(path, HEADER) as store:
        talk = held(talk_of(store, window, plan=plan, factor=factor), turns)
        starts = sum(isinstance(event, CompactionStart) for event in talk.events)
        ends = [event for event in talk.events if isinstance(event, CompactionEnd)]
        assert starts == len(ends)
        assert talk.refused == 0 or any(event.problem for event in ends)
        speech, window = talk.speech, talk.window
    with SessionStore.open(path) as store:
        again = talk_of(store, window, factor=factor)
        again.speech = speech
        held(again, [Turn(said=20)])

        assert again.refused == 0


@pytest.mark.parametrize("factor", [0, 1.0, 1.4])
@pytest.mark.parametrize(("window", "system"), [(8_000, 300), (8_000, 2_500), (32_000, 2_000)])
def test_summaries_of_a_long_day_stay_few(tmp_path, window, system, factor):
    """What is read for summaries is at most about twice what was said, and most turns need none.

    Without a bound on what is kept, a long prompt would have every turn compact.
    """
    with SessionStore.create(tmp_path / "s.jsonl", HEADER) as store:
        talk = talk_of(store, window, factor=factor, size=window // 16)
        talk.speech = Speech("rule " * (system * 2 // 3), ())
        held(talk, list(workday(100, seed=3)))

        read = sum(message_tokens(m) for prompt in talk.sums.asked for m in prompt.messages)
        assert talk.refused == 0
        assert len(talk.sums.asked) < talk.requests / 3
        assert read < 2 * talk.added
