from dataclasses import replace

import pytest

from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.question_text import render_question
from orchestrator.dispatch.judge import Asking
from orchestrator.harness.egress.question import (
    asked_decision,
    called_by,
    egress_question,
    recorded_subject,
)
from orchestrator.schema.egress import InjectionTerms, Terms
from tests.support.asking import ALL
from tests.support.egress_desk import CURL, GET, SESSION, TUNNEL, says

ASKING = Asking(NobodyConfirmer(), timeout_s=60.0, scopes=ALL, session=SESSION, project="/p")


def asked(request, *, caller=CURL, terms=None):
    return egress_question(
        request,
        says("ask", terms=terms)(request),
        asking=ASKING,
        call="call_1",
        context=("while this runs: bash curl",),
        caller=caller,
    )


def shown(request, **more):
    return "\n".join(render_question(asked(request, **more), 200))


def test_question_shows_everything_a_person_needs():
    text = shown(replace(GET, method="PUT", announced=77))

    assert "may this leave the box?" in text
    assert "PUT https://api.example/v1/items?id=1" in text
    assert "sends 77 bytes" in text
    assert "as the box says, /usr/bin/curl asked (pid 12)" in text
    assert "while this runs: bash curl" in text
    assert "\n┃ in \n" not in text


def test_what_the_box_says_of_itself_moves_no_cursor():
    evil = replace(CURL, program="/tmp/\x1b[2J", argv=("x\r\n┃ y yes",))
    text = shown(GET, caller=evil)

    assert "\x1b" not in text
    assert "\r" not in text


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (TUNNEL, "whatever is sent in it is not seen"),
        (replace(GET, method="POST"), "sends an unknown number of bytes"),
        (replace(GET, upgrade="websocket"), "goes on as websocket"),
        (replace(GET, overrides=("DELETE",)), "to take it for DELETE"),
        (replace(GET, other_paths=("/admin", "/x")), "to take its path for /admin or /x"),
    ],
)
def test_question_tells_what_cannot_be_seen(request_, said):
    assert said in shown(request_)


def test_question_names_the_secret_that_would_be_put_in():
    terms = Terms(injections=(InjectionTerms("api", "vault:acme", "header", "Authorization"),))

    assert "the secret vault:acme is put into it (rule api)" in shown(GET, terms=terms)


def test_wider_yes_is_explained():
    assert "GET https://api.example:443/ <one word>" in shown(GET)
    assert "any path below, any query" in shown(GET)


def test_records_get_no_query():
    assert recorded_subject(GET) == "GET https://api.example/v1/items?…"
    assert recorded_subject(replace(GET, target="/a")) == "GET https://api.example/a"
    assert recorded_subject(TUNNEL) == "connect to api.example"


def test_caller_that_is_not_known_is_said_to_be():
    assert called_by(None) == "the box does not say which program asked"
    assert len(called_by(replace(CURL, argv=("x" * 10_000,)))) < 500


def test_ask_becomes_a_refusal_with_its_reason():
    decision = asked_decision(says("ask")(GET).decision, "the answer was no")

    assert (decision.effect, decision.reason) == ("deny", "the answer was no")
