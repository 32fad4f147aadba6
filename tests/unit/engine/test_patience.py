import anyio
import pytest
from anyio import to_thread

from orchestrator.engine.patience import (
    END_S,
    SPENT_S,
    Patience,
    aside,
    hurry,
    note_silence,
    note_word,
    seconds_now,
    session_patience,
)

USUAL = 60.0


def test_working_session_waits_as_long_as_it_needs():
    """Also after a silence: a disk may have been slow."""
    with session_patience() as patience, patience.until_end():
        note_silence()

        assert seconds_now(USUAL) == USUAL


def test_end_is_patient_once():
    """Each further call gets what an engine needs that is back."""
    with session_patience() as patience:
        with patience.until_end():
            pass
        first = seconds_now(USUAL)
        note_silence()

        assert (first, seconds_now(USUAL)) == (END_S, SPENT_S)


def test_calls_of_an_end_that_wait_side_by_side_share_its_patience():
    """A second call gets what the first one has left, and all of it again once a word came."""
    now = [100.0]
    patience = Patience(ending=True, clock=lambda: now[0])

    first = patience.seconds(USUAL)
    now[0] += 4.0
    second = patience.seconds(USUAL)
    now[0] += 60.0
    late = patience.seconds(USUAL)
    patience.note_word()

    assert (first, second, late) == (END_S, END_S - 4.0, SPENT_S)
    assert patience.seconds(USUAL) == END_S


def test_silence_of_a_working_session_is_forgiven_by_the_next_word():
    """A slow disk long ago must not make the end give up on an engine that is well."""
    with session_patience():
        note_silence()
        note_word()
        hurry()

        assert seconds_now(USUAL) == END_S


def test_silence_of_an_end_is_not_forgiven():
    """Else an engine that answers questions and removes nothing is waited for again and again."""
    with session_patience():
        hurry()
        note_silence()
        note_word()

        assert seconds_now(USUAL) == SPENT_S


def test_what_runs_aside_never_holds_an_end_for_longer():
    """Its call may have begun before the end did."""
    with session_patience():
        with aside():
            within = (seconds_now(USUAL), seconds_now(1.0))

        assert within == (END_S, 1.0)
        assert seconds_now(USUAL) == USUAL


def test_end_that_fails_on_the_way_up_hurries_too():
    """Whatever ended the block."""
    with session_patience() as patience:
        with pytest.raises(ZeroDivisionError), patience.until_end():
            raise ZeroDivisionError

        assert seconds_now(USUAL) == END_S


def test_end_never_waits_longer_than_usual():
    """A short time-out stays."""
    with session_patience():
        hurry()

        assert seconds_now(1.0) == 1.0


def test_sessions_do_not_share_their_patience():
    """One that ends leaves the others, and what comes after, as they were."""
    seen = {}

    async def ending():
        with session_patience():
            hurry()
            note_silence()
            await anyio.sleep(0.01)
            seen["ending"] = await to_thread.run_sync(seconds_now, USUAL)

    async def working():
        with session_patience():
            await anyio.sleep(0.005)
            seen["working"] = await to_thread.run_sync(seconds_now, USUAL)

    async def both():
        async with anyio.create_task_group() as group:
            group.start_soon(ending)
            group.start_soon(working)

    anyio.run(both)

    assert seen == {"ending": SPENT_S, "working": USUAL}
    assert seconds_now(USUAL) == USUAL
