"""A bound on questions."""

from orchestrator.confirmation.limit import LimitedConfirmer
from tests.support.asking import Someone, ask, question, yes


def test_so_many_questions_an_hour_and_no_more():
    """The rest is a no that says why; an hour later there is room again."""
    now = [0.0]
    person = Someone(*[yes()] * 9)
    confirmer = LimitedConfirmer(person, per_hour=2, now=lambda: now[0])

    answers = ask(confirmer, *[question()] * 3)
    now[0] = 3599.9
    answers += ask(confirmer, question())
    now[0] = 3600.0
    answers += ask(confirmer, question())

    assert [answer.by for answer in answers] == [
        "terminal",
        "terminal",
        "limit",
        "limit",
        "terminal",
    ]
    assert "2 questions were asked within an hour" in answers[2].reason
