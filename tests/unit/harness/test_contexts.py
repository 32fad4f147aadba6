"""The context of a session, put together."""

from types import SimpleNamespace

import anyio
import pytest

from orchestrator.config.settings import ContextSettings
from orchestrator.harness.contexts import branch_summary, session_context
from orchestrator.harness.models.meter import Meter
from orchestrator.model.client import ModelInfo
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.contexts import SPEECH, Sums, answer, render, say


@pytest.fixture
def parts(tmp_path):
    """A session's file, its models and what counts their calls."""
    header = SessionHeader("0123456789ab", "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as store:
        output = SimpleNamespace(scrub=lambda text: text)
        record = SimpleNamespace(store=store)
        ground = SimpleNamespace(
            id="0123456789ab", record=record, output=output, observe=lambda _: None
        )
        small = Sums("short")
        models = SimpleNamespace(info=ModelInfo("x", "main", 100_000, 1_000), small=small)
        audit = SimpleNamespace(append=lambda *_: None)
        yield ground, models, Meter(audit, store), small


def test_small_model_summarises_and_its_calls_are_counted(parts):
    """For the window of the main one."""
    ground, models, meter, small = parts
    settings = ContextSettings(keep=100)
    context = session_context(ground, models, meter, render=render, settings=settings)
    for number in range(6):
        say(ground.record.store, f"{number} " + "x" * 400)
    done = anyio.run(context.compact, SPEECH)

    assert done.summary == "short"
    assert len(small.asked) == 1
    assert meter.beside().usage.total == 15


def test_branch_that_is_left_is_summarised_by_it_too(parts):
    ground, models, meter, small = parts
    here = say(ground.record.store, "a")
    answer(ground.record.store, "tried")

    async def work():
        return await branch_summary(ground, models, meter, render=render, target=here, focus="")

    made = anyio.run(work)
    assert made.body["summary"] == "short"
    assert "tried" in small.text()
    assert meter.beside().usage.total == 15
