"""The corpus on compaction: no call loses its result, and nothing goes round for ever."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from orchestrator.context.sizes import message_tokens
from orchestrator.errors import ContextError, ModelError
from orchestrator.schema.codec import decode_message
from orchestrator.schema.message import AssistantMessage, Text, ToolMessage
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.contexts import SPEECH, Sums, answer, context_of, result, say
from tests.support.loops import open_loop, says
from tests.support.sending import assert_any_api_takes

LONG = "x" * 4_000


@pytest.fixture
def store(tmp_path: Path):
    header = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as found:
        yield found


def compact(store, sums=None, *, last=None):
    """Compact as a person does who keeps the last so many messages; return the entry's body."""
    told = [decode_message(entry.body) for entry in store.tree.path() if entry.type == "message"]
    keep = sum(map(message_tokens, told[-last:])) if last else 1
    context = context_of(store, sums or Sums(), window=200_000, keep=keep)
    assert anyio.run(context.compact, SPEECH) is not None
    return next(e.body for e in reversed(store.tree.entries) if e.type == "compaction")


def kept_ids(store, body):
    """Return the ids of calls, and of results, in what is kept word for word."""
    path = store.tree.path()
    first = [entry.id for entry in path].index(body["first_kept"])
    kept = [decode_message(entry.body) for entry in path[first:] if entry.type == "message"]
    calls = [c.id for m in kept if isinstance(m, AssistantMessage) for c in m.tool_calls]
    results = [r.call for m in kept if isinstance(m, ToolMessage) for r in m.results]
    return calls, results


def request(store):
    """Return the next request's messages; every API would take them."""
    messages = anyio.run(context_of(store, Sums(), window=200_000).request, SPEECH).messages
    assert_any_api_takes(messages)
    return messages


@pytest.mark.case("session-compact-01")
def test_cut_before_a_result_moves_behind_it(store):
    """The last four of six begin with the result of a call that would be summarised."""
    say(store, LONG)
    for name in "ab":
        answer(store, "", name)
        result(store, name, LONG)
    answer(store, LONG)
    body = compact(store, last=4)

    assert kept_ids(store, body) == (["b"], ["b"])
    assert [m.results[0].output for m in request(store) if isinstance(m, ToolMessage)] == [LONG]


@pytest.mark.case("session-compact-02")
@pytest.mark.parametrize(("after", "kept"), [(LONG, []), ("", ["a", "b"])])
def test_parallel_calls_are_kept_or_summarised_together(store, after, kept):
    """The cut falls between their results; where nothing follows them they are kept."""
    say(store, LONG)
    answer(store, "", "a", "b")
    result(store, "a", LONG)
    result(store, "b", LONG)
    if after:
        answer(store, after)
    body = compact(store, last=2 if after else 1)

    assert kept_ids(store, body) == (kept, kept)
    request(store)


@pytest.mark.case("session-compact-03")
@pytest.mark.parametrize("goes_on", [True, False])
def test_call_that_never_got_a_result_is_closed(store, goes_on):
    """Also where it is the last of all that was said."""
    say(store, LONG)
    answer(store, "sure", "lost")
    if goes_on:
        say(store, "and now?")
    compact(store)
    told = request(store)

    results = [r for m in told if isinstance(m, ToolMessage) for r in m.results]
    assert [(r.call, r.is_error) for r in results] in ([], [("lost", True)])


@pytest.mark.case("session-compact-04")
def test_no_compaction_comes_between_a_call_and_its_result(store):
    """The tool ends while the summary is written: what was begun is dropped."""
    say(store, LONG)
    answer(store, "", "slow")

    class Meanwhile(Sums):
        async def complete(self, prompt, *, on_delta):
            result(store, "slow", "out")
            return await super().complete(prompt, on_delta=on_delta)

    with pytest.raises(ContextError, match="went on while"):
        compact(store, Meanwhile())

    assert [entry.type for entry in store.tree.entries] == ["message"] * 3
    assert [m.results[0].output for m in request(store) if isinstance(m, ToolMessage)] == ["out"]


@pytest.mark.case("session-compact-07")
def test_kept_part_over_the_limit_is_compacted_harder_once_and_then_stops(tmp_path):
    """The model is never sent what does not fit, and never asked for summaries without end."""
    sums = Sums("one", "z" * 60_000)

    def context(store):
        say(store, "x" * 20_000)
        answer(store, "ok")
        say(store, "y" * 60_000)
        return context_of(store, sums)

    opened = open_loop(tmp_path, context=context)
    with pytest.raises(ContextError, match="nothing was sent"):
        anyio.run(opened.loop.run)

    assert opened.model.prompts == []
    done = [entry for entry in opened.store.tree.entries if entry.type == "compaction"]
    assert len(done) == 2


@pytest.mark.case("session-compact-10")
def test_branch_that_was_left_stays_whole(store):
    """Three entries back, something else, a compaction there: the other branch has all it had."""
    for number in range(4):
        say(store, f"q{number} {LONG}")
        answer(store, f"a{number}")
    whole, left = store.messages(), store.tree.leaf
    store.append("leaf", {"target": store.tree.path()[-4].id})
    say(store, f"something else {LONG}")
    answer(store, "so")
    compact(store)
    store.append("leaf", {"target": left})

    assert store.messages() == whole
    assert request(store) == whole


@pytest.mark.case("session-compact-11")
@pytest.mark.parametrize("again", [False, True])
def test_overflow_is_answered_by_one_compaction_and_one_retry(tmp_path, again):
    """A provider that refuses that too is not asked a third time."""
    sums = Sums()

    def context(store):
        for number in range(6):
            say(store, f"q{number} {LONG}")
            answer(store, f"a{number}")
        say(store, "and now?")
        return context_of(store, sums, window=200_000, keep=2_000)

    too_long = ModelError("too long", kind="overflow", status=400)
    answers = [too_long, too_long if again else says("here"), says("never")]
    opened = open_loop(tmp_path, *answers, context=context)
    if again:
        with pytest.raises(ModelError, match="too long"):
            anyio.run(opened.loop.run)
    else:
        assert anyio.run(opened.loop.run).answer == "here"

    first, second = opened.model.prompts
    assert len(second.messages) < len(first.messages)
    assert second.messages[-1].content == (Text("and now?"),)
    assert [e.body["reason"] for e in opened.store.tree.entries if e.type == "compaction"] == [
        "overflow"
    ]
