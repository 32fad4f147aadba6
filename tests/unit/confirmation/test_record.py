"""A question as data, and back."""

from orchestrator.confirmation.question_text import render_question
from orchestrator.confirmation.record import plain_data, question_of, record_of
from orchestrator.confirmation.reply import Reply
from tests.support.asking import START, no, question, yes


def test_question_that_was_kept_is_shown_the_same():
    """Whoever looks later sees what the terminal showed."""
    asked = question("git push origin main", notes=("also",), span=(0, 8), risks=("publishes",))
    kept = question_of(record_of(asked, expires=None))

    assert render_question(kept, 80) == render_question(asked, 80)
    assert (kept.digest, kept.id) == (asked.digest, asked.id)


def test_place_in_a_text_that_was_scrubbed_is_dropped():
    """It would point at something else."""
    asked = question("push secret", span=(0, 4), more={"scrub": lambda t: t.replace("secret", "x")})

    assert record_of(asked, expires=None).span is None


def test_nothing_that_is_kept_holds_a_known_secret():
    """Neither the command, nor the content, nor the words about them."""
    asked = question(
        "echo hunter2; ls",
        reason="hunter2",
        notes=("hunter2",),
        more={"body": "hunter2", "scrub": lambda text: text.replace("hunter2", "[x]")},
    )

    record = record_of(asked, expires=None)

    assert "hunter2" not in record.model_dump_json()
    assert record.model_dump_json().count("[x]") == 5


def test_answer_survives_its_data():
    """Nothing that counts is lost on the way."""
    for answer in (yes("30m", who="ann", via="t", widened=True), no("why", by="inbox")):
        data = plain_data(Reply.of(answer, START))
        assert Reply.model_validate(data).as_answer() == answer
