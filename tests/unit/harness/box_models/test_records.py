"""Calls in the audit and as events."""

import anyio
import pytest

from orchestrator.egress.endpoint.model_call import CallOutcome, ModelCall
from orchestrator.errors import AuditUnavailable
from orchestrator.harness.box_models.records import MOST_KINDS, ModelCallDesk
from orchestrator.harness.box_models.summary import summarise_models
from orchestrator.schema.egress import Caller
from orchestrator.schema.event import ErrorRaised, ModelCallInBox
from orchestrator.schema.ids import digest_of
from orchestrator.schema.message import Usage

CALL = ModelCall(
    number=3,
    method="POST",
    path="/v1/messages",
    body_bytes=2,
    body_digest=digest_of(b"{}"),
    caller=Caller(7, "/usr/bin/curl", ("curl",)),
    asked="small",
    provider="anthropic",
    model="claude",
    rule="models.box.map",
    changes=("model",),
)


class Chain:
    def __init__(self):
        self.records, self.broken = [], False

    def append_soon(self, kind, body):
        return self.append(kind, body)

    def append(self, kind, body):
        if self.broken:
            raise AuditUnavailable("disk full")
        self.records.append((kind, dict(body)))
        return len(self.records)


class Scene:
    def __init__(self):
        self.chain, self.events = Chain(), []

        def scrub(body):
            return {
                k: v.replace("sk-1", "***") if isinstance(v, str) else v for k, v in body.items()
            }

        self.desk = ModelCallDesk(self.chain, scrub=scrub, observe=self.events.append)


def test_call_and_its_end_are_recorded_and_told_once():
    """The record holds a digest of what was said, never the words."""

    async def run():
        scene = Scene()
        await scene.desk.begin(CALL)
        outcome = CallOutcome(200, 5, 6, Usage(1, 2), cost_usd=0.00001234, duration_ms=1.5)
        await scene.desk.end(CALL, outcome)
        return scene

    scene = anyio.run(run)
    (began, body), (ended, end) = scene.chain.records
    assert (began, ended) == ("model_call_in_box", "model_call_in_box_end")
    assert body["body_digest"] == CALL.body_digest
    assert body["caller"] == {"pid": 7, "program": "/usr/bin/curl", "argv": ["curl"]}
    assert (body["provider"], body["model"], body["asked"]) == ("anthropic", "claude", "small")
    assert end["cost_usd"] == "0.000012"
    assert end["usage"] == {"input": 1, "output": 2, "cache_read": 0, "cache_write": 0}
    (event,) = scene.events
    assert isinstance(event, ModelCallInBox)
    assert (event.status, event.usage["output"], event.effect) == (200, 2, "allow")


def test_refusals_that_repeat_are_counted():
    """Three have a record each; a thousand more fill no disk."""

    async def run():
        scene = Scene()
        refused = ModelCall(1, "POST", "/x", 0, None, None, effect="deny", rule="r", reason="sk-1")
        for _ in range(1200):
            await scene.desk.begin(refused)
        return scene

    scene = anyio.run(run)
    assert [body["count"] for _, body in scene.chain.records] == [1, 2, 3, 10, 100, 1000]
    assert len(scene.events) == 6
    assert {event.reason for event in scene.events} == {"***"}
    assert "sk-1" not in str(scene.chain.records)


def test_last_count_is_written_at_the_end():
    """Once, for each kind that was refused more often than the records tell."""

    async def run():
        scene = Scene()
        for name, times in (("a", 57), ("b", 10), ("c", 2)):
            refused = ModelCall(1, "POST", "/x", 0, None, None, asked=name, effect="deny", rule="r")
            for _ in range(times):
                await scene.desk.begin(refused)
        await scene.desk.flush()
        await scene.desk.flush()
        return scene

    records = anyio.run(run).chain.records
    last = {body["asked"]: body["count"] for _, body in records}
    assert last == {"a": 57, "b": 10, "c": 2}
    assert len(records) == 5 + 4 + 2
    rows = summarise_models({"type": kind, "body": body} for kind, body in records)
    assert {row.model: row.count for row in rows} == last


def test_paths_without_a_model_are_counted_apart():
    """A wrong key says no name of a model."""

    async def run():
        scene = Scene()
        for path in ("/a", "/b"):
            refused = ModelCall(1, "POST", path, 0, None, None, effect="deny", rule="session-key")
            for _ in range(5):
                await scene.desk.begin(refused)
        await scene.desk.flush()
        return scene

    records = anyio.run(run).chain.records
    rows = summarise_models({"type": kind, "body": body} for kind, body in records)
    assert {row.model: row.count for row in rows} == {"/a": 5, "/b": 5}


def test_last_counts_that_cannot_be_written_are_told():
    """The session ends all the same."""

    async def run():
        scene = Scene()
        refused = ModelCall(1, "POST", "/x", 0, None, None, effect="deny", rule="r")
        for _ in range(5):
            await scene.desk.begin(refused)
        scene.chain.broken = True
        await scene.desk.flush()
        return scene

    assert isinstance(anyio.run(run).events[-1], ErrorRaised)


def test_names_without_end_are_counted_together():
    """A program that makes up names fills neither disk nor memory."""

    async def run():
        scene = Scene()
        for number in range(MOST_KINDS + 500):
            name = f"made-up-{number}"
            refused = ModelCall(number, "POST", "/x", 0, None, None, asked=name, effect="deny")
            await scene.desk.begin(refused)
        return scene

    scene = anyio.run(run)
    assert len(scene.chain.records) == MOST_KINDS + 5
    assert len(scene.desk._refused) == MOST_KINDS + 1
    assert scene.chain.records[-1][1]["asked"] == "(other names)"


def test_without_a_record_no_call_begins_and_a_lost_end_is_told():
    """The one is a no, the other cannot be undone."""

    async def run():
        scene = Scene()
        scene.chain.broken = True
        with pytest.raises(AuditUnavailable):
            await scene.desk.begin(CALL)
        await scene.desk.end(CALL, CallOutcome(200))
        await scene.desk.end(CALL, CallOutcome(200))
        return scene

    told = [type(event) for event in anyio.run(run).events]
    assert told == [ErrorRaised, ModelCallInBox, ModelCallInBox]
