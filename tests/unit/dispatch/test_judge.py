"""The judge: policy first, a person where policy asks, and only a yes or an allow opens the box."""

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer, ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.dispatch.judge import (
    Asking,
    Judge,
    NeedsApprovalError,
    Verdict,
    body_of,
    refusal_text,
    unlike,
)
from orchestrator.errors import AuditUnavailable
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import ApprovalAnswer, ApprovalRequest, DecisionMade
from orchestrator.schema.likeness import Likeness
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    ReadRequest,
    Replacement,
    WriteRequest,
    request_digest,
    request_subject,
)
from tests.support.corridor import call, verdict

SECRET = "correct-horse-battery-staple-7"
PUSH = ExecRequest("git push", "/workspace", 5.0)


class ListedAudit:
    """Keeps records in memory."""

    def __init__(self):
        self.records = []

    def append(self, kind, body, /):
        self.records.append((kind, dict(body)))
        return len(self.records)


class FullAudit:
    """Takes no record."""

    def append(self, kind, body, /):  # noqa: ARG002 - the audit's form
        raise AuditUnavailable("the disk is full")


def judge(
    effect, *answers, request=PUSH, confirmer=None, audit=None, stop=False, liken=None, **decision
):
    """Return what came of one call: the verdict, the events, the records."""
    events, records = [], audit or ListedAudit()
    made = Judge(
        verdict(effect, **decision),
        Asking(
            confirmer or ScriptedConfirmer(answers),
            timeout_s=1.0,
            stop_when_nobody=stop,
            session="0123456789ab",
            liken=liken or unlike,
        ),
        records,
        observe=events.append,
        scrub=Redactor({"acme": SECRET}).redact,
    )
    return anyio.run(made.judge, call("bash", command="x"), request), events, records


@pytest.mark.parametrize(("effect", "allowed"), [("allow", True), ("deny", False)])
def test_policy_that_does_not_ask_decides_alone(effect, allowed):
    """Nobody is bothered."""
    confirmer = ScriptedConfirmer()
    found, events, audit = judge(effect, confirmer=confirmer)

    assert (found.allowed, found.answer) == (allowed, None)
    assert confirmer.asked == []
    assert [type(event) for event in events] == [DecisionMade]
    assert audit.records == []


@pytest.mark.parametrize("yes", [True, False])
def test_ask_is_what_the_person_says(yes):
    """A yes opens, a no does not."""
    found, events, audit = judge("ask", Answer(yes=yes, by="terminal", reason="hm"))

    assert found.allowed is yes
    assert [type(event) for event in events] == [ApprovalRequest, ApprovalAnswer, DecisionMade]
    assert events[-1].answered_by == "scripted"
    (asked, question), (kind, body) = audit.records
    assert (asked, question["subject"]) == ("approval_asked", "git push")
    assert (kind, body["yes"], body["reason"]) == ("approval", yes, "hm")
    assert body["digest"] == question["digest"] == request_digest(PUSH)
    assert body["question"] == question["id"] == events[0].id


def test_deny_is_never_asked_about():
    """An approval answers an ask; it lifts no deny."""
    confirmer = ScriptedConfirmer([Answer(yes=True, by="terminal")])
    found, _, _ = judge("deny", confirmer=confirmer)

    assert not found.allowed
    assert confirmer.asked == []


def test_yes_that_cannot_be_recorded_is_none():
    """No record, no action."""
    with pytest.raises(AuditUnavailable):
        judge("ask", Answer(yes=True, by="terminal"), audit=FullAudit())


def test_nobody_is_a_no_unless_the_run_is_to_stop():
    """``--on-ask deny`` goes on without the call, ``stop`` ends the run resumably."""
    found, _, _ = judge("ask", confirmer=NobodyConfirmer())
    assert not found.allowed

    audit = ListedAudit()
    with pytest.raises(NeedsApprovalError) as caught:
        judge("ask", confirmer=NobodyConfirmer(), stop=True, audit=audit)
    assert caught.value.call == "call_1"
    assert caught.value.question.digest == request_digest(PUSH)
    assert [kind for kind, _ in audit.records] == ["approval_asked", "approval"]


def test_no_by_a_person_stops_no_run():
    """Somebody was there and said no: the model is told, the run goes on."""
    found, _, _ = judge("ask", Answer(yes=False, by="terminal"), stop=True)

    assert not found.allowed


def test_events_and_records_hold_no_known_value():
    """Reasons, subjects and answers are texts like others."""
    request = ExecRequest(f"deploy {SECRET}", "/workspace", 5.0)
    answer = Answer(yes=False, by="terminal", reason=f"not {SECRET}")
    found, events, audit = judge("ask", answer, request=request)

    assert SECRET not in repr(events) + repr(audit.records) + refusal_text(found)
    assert "[redacted:acme:" in events[0].question["subject"]


def test_question_that_cannot_be_recorded_is_asked_of_nobody():
    """What was asked is on record before anybody can answer."""
    confirmer = ScriptedConfirmer([Answer(yes=True, by="terminal")])

    with pytest.raises(AuditUnavailable):
        judge("ask", confirmer=confirmer, audit=FullAudit())
    assert confirmer.asked == []


def test_answer_that_came_too_late_is_recorded_too():
    """The first counts; what another channel said is kept beside it."""
    late = Answer(yes=True, by="inbox", who="bo", reason=f"why {SECRET}")
    found, _, audit = judge("ask", Answer(yes=False, by="terminal", lost=(late,)))

    assert not found.allowed
    kinds = [kind for kind, _ in audit.records]
    assert kinds == ["approval_asked", "approval", "approval_lost"]
    assert (audit.records[-1][1]["yes"], audit.records[-1][1]["who"]) == (True, "bo")
    assert SECRET not in repr(audit.records)


@pytest.mark.parametrize("scope", ["project", "30m", "for ever"])
def test_answer_for_longer_than_policy_offers_holds_once(scope):
    """Whoever answered: policy binds."""
    found, events, audit = judge("ask", Answer(yes=True, by="terminal", scope=scope))

    assert found.allowed
    assert (found.answer.scope, events[1].scope, audit.records[-1][1]["scope"]) == ("once",) * 3


def test_question_says_what_it_is_about():
    """Effects in plain words, risks, what may be remembered, and until when it waits."""
    confirmer = ScriptedConfirmer()

    def liken(request):
        return Likeness((f"runs {request.command}", f"sends {SECRET}"))

    _, events, _ = judge("ask", confirmer=confirmer, liken=liken, risks=("publishes",))

    (asked,) = confirmer.asked
    assert asked.likeness.effects[0] == "runs git push"
    assert (asked.expires - asked.created).total_seconds() == 1
    told = events[0].question
    assert (told["risks"], told["scopes"]) == (["publishes"], ["once", "session"])
    assert SECRET not in repr(told)


def test_question_names_what_would_run():
    """Command and directory, or path and content."""
    confirmer = ScriptedConfirmer()
    judge("ask", confirmer=confirmer)
    judge("ask", confirmer=confirmer, request=WriteRequest("/workspace/a", "new"))

    first, second = confirmer.asked
    assert (first.subject, first.cwd, first.body) == ("git push", "/workspace", "")
    assert (second.subject, second.cwd, second.body) == ("/workspace/a", "", "new")


def test_path_that_lands_elsewhere_is_shown_with_its_target():
    """A person judges the target, not the name."""
    assert request_subject(ReadRequest("/workspace/a")) == "/workspace/a"
    assert request_subject(ReadRequest("/workspace/a", resolved="/workspace/a")) == "/workspace/a"
    assert (
        request_subject(ReadRequest("/workspace/a", resolved="/etc/b"))
        == "/workspace/a (is /etc/b)"
    )


def test_content_is_shown_for_what_writes():
    """An edit shows both texts; a read shows none."""
    edit = EditRequest("/workspace/a", (Replacement("one", "two"),))

    assert body_of(edit) == "- one\n+ two"
    assert body_of(ReadRequest("/workspace/a")) == ""
    assert body_of(PUSH) == ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "no answer"),
        (Answer(yes=False, by="nobody"), "nobody could be asked"),
        (Answer(yes=False, by="timeout"), "nobody answered in time"),
        (Answer(yes=False, by="limit"), "no more questions are asked now"),
        (Answer(yes=False, by="unaskable"), "cannot be shown whole"),
        (Answer(yes=False, by="terminal"), "the answer was no"),
    ],
)
def test_refusal_tells_the_model_who_said_no(answer, words):
    """Nobody there, too late, and a no are three things."""
    decision = Decision("ask", "risk:publishes", "session", "publishes")
    text = refusal_text(Verdict(decision, answer, allowed=False))

    assert words in text
    assert "risk:publishes: publishes" in text
    assert "Reason given" not in text
    assert "Instead" not in text


def test_refusal_carries_the_persons_reason_and_policys_hint():
    """Both help the model to find another way."""
    decision = Decision("ask", "r", "session", "publishes", hint="push to a branch")
    answer = Answer(yes=False, by="terminal", reason="not on friday")
    text = refusal_text(Verdict(decision, answer, allowed=False))

    assert text.splitlines()[1:] == ["Reason given: not on friday", "Instead: push to a branch"]
