"""A question is on record before it is asked, and its answer before it counts."""

from dataclasses import replace

import anyio
import pytest

from orchestrator.confirmation.answers import ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.dispatch.questions import Questions, question_id
from orchestrator.errors import AuditUnavailable
from orchestrator.schema.event import ApprovalAnswer, ApprovalRequest
from orchestrator.schema.ids import digest_of
from orchestrator.schema.likeness import Likeness
from tests.support import asking


class ListedAudit:
    """Keeps records in memory, until it is full."""

    def __init__(self, room=100):
        self.records = []
        self.room = room

    def append(self, kind, body, /):
        if len(self.records) >= self.room:
            raise AuditUnavailable("the disk is full")
        self.records.append((kind, dict(body)))
        return len(self.records)


def put(question, *answers, audit=None):
    """Return the answer, the events, the records, and who was asked."""
    events, records, confirmer = [], audit or ListedAudit(), ScriptedConfirmer(answers)
    questions = Questions(
        confirmer,
        records,
        timeout_s=1.0,
        observe=events.append,
        scrub=lambda text: text.replace("hunter2", "<secret>"),
    )
    return anyio.run(questions.put, question), events, records.records, confirmer


def test_question_and_answer_are_on_record_in_this_order():
    answer, events, records, _ = put(asking.question(), Answer(yes=True, by="terminal"))

    assert answer.yes
    assert [kind for kind, _ in records] == ["approval_asked", "approval"]
    assert [type(event) for event in events] == [ApprovalRequest, ApprovalAnswer]
    assert records[0][1]["digest"] == records[1][1]["digest"]


def test_question_that_cannot_be_recorded_is_not_asked():
    """No record, no question: an answer would count for nothing."""
    audit = ListedAudit(room=0)
    with pytest.raises(AuditUnavailable):
        put(asking.question(), Answer(yes=True, by="terminal"), audit=audit)


def test_record_keeps_what_the_question_says_in_place_of_its_subject():
    """A URL's query is shown to the person and kept out of records."""
    question = replace(
        asking.question("GET https://a.example/?t=1"),
        recorded="GET a.example ?…",
        likeness=Likeness(),
    )
    _, events, records, confirmer = put(question, Answer(yes=True, by="terminal"))

    assert "t=1" in confirmer.asked[0].subject
    assert "t=1" not in repr(records) + repr(events)
    assert records[0][1]["subject"] == "GET a.example ?…"


def test_reason_is_recorded_without_secrets():
    answer, _, records, _ = put(asking.question(), asking.no("it has hunter2 in it"))

    assert "hunter2" not in answer.reason + repr(records)


def test_question_has_one_id_for_one_call():
    """A session that is taken up again asks the same question, not another one."""
    digest = digest_of(b"git push")

    assert question_id("s", "call_1", digest) == question_id("s", "call_1", digest)
    others = {question_id("s", "call_2", digest), question_id("t", "call_1", digest)}
    assert question_id("s", "call_1", digest) not in others
