"""A person behind an address: a real receiver on loopback, and everything it may send back."""

import json

import pytest

from orchestrator.confirmation.channels import ChannelLostError
from orchestrator.confirmation.record import MAX_SHOWN
from orchestrator.confirmation.webhook import MAX_ANSWER, WebhookChannel
from orchestrator.confirmation.webhook_reply import checked_url
from orchestrator.credentials.secret import Secret
from orchestrator.schema.ids import Digest
from tests.support.asking import ask, question, yes
from tests.support.receiver import SHARED, Back, certificate, receiving, reply_to, says, signed


def channel(receiver, notes=None):
    note = (notes if notes is not None else []).append
    return WebhookChannel(receiver.url, Secret(SHARED), note=note)


def answer_of(respond, *, asked=None, timeout_s=10.0):
    with receiving(respond) as receiver:
        (answer,) = ask(channel(receiver), asked or question(), timeout_s=timeout_s)
    return answer, receiver


@pytest.mark.parametrize("word", ["yes", "no"])
def test_signed_answer_counts(word):
    """With who gave it, why, and where from."""
    answer, receiver = answer_of(says(word, reason="so"))

    assert (answer.yes, answer.by, answer.who, answer.reason) == (
        word == "yes",
        "webhook",
        "bo",
        "so",
    )
    assert answer.via == receiver.url
    assert [got.genuine for got in receiver.got] == [True]


def test_question_holds_all_that_is_needed_and_no_known_secret():
    """Data for a machine, and beside it what a person is to be shown, escaped."""
    asked = question(
        "echo hunter2-value\x1b[2J; git push origin main",
        more={"scrub": lambda text: text.replace("hunter2-value", "[gone]")},
    )
    _, receiver = answer_of(says("no"), asked=asked)
    data = receiver.got[0].data

    assert data["digest"] == asked.digest
    assert data["subject"] == "echo [gone]\x1b[2J; git push origin main"
    assert r"echo [gone]\x1b[2J" in data["shown"]
    assert "\x1b" not in data["shown"]
    assert list(data["remembers"]) == ["once", "session", "30m", "project"]
    assert {"cwd", "effects", "risks", "rule", "layer", "created", "expires"} <= {*data}
    assert "hunter2" not in json.dumps(data)


def test_receiver_without_an_answer_yet_is_asked_again():
    """Each request is signed anew."""

    def later(got):
        return says("yes")(got) if len(receiver_got) > 1 else Back(headers={"Retry-After": "0"})

    with receiving() as receiver:
        receiver_got = receiver.got
        receiver.respond = later
        (answer,) = ask(channel(receiver), question(), timeout_s=20)

    assert answer.yes
    assert len({got.nonce for got in receiver.got}) == 2
    assert {got.data["id"] for got in receiver.got} == {question().id}


def test_no_answer_in_time_is_a_no():
    """Silence is never a yes."""
    answer, _ = answer_of(None, timeout_s=0.3)

    assert (answer.yes, answer.by) == (False, "timeout")


def replayed(got):
    return signed(reply_to(got, "yes", reply_to="n" * 24))


REFUSED = {
    "another secret": lambda got: signed(reply_to(got, "yes"), key="guessed"),
    "no signature": lambda got: Back(200, json.dumps(reply_to(got, "yes")).encode()),
    "another question": lambda got: signed(reply_to(got, "yes", id="ffff0000ffff")),
    "another digest": lambda got: signed(reply_to(got, "yes", digest="sha256:" + "0" * 64)),
    "an earlier request": replayed,
    "an old answer": lambda got: signed(reply_to(got, "yes"), age=600),
    "a scope that is not offered": lambda got: signed(reply_to(got, "yes", scope="for ever")),
    "an unknown word": lambda got: signed(reply_to(got, "maybe")),
    "a signed list": lambda _: signed([]),
    "an unknown field": lambda got: signed(reply_to(got, "yes", sudo=True)),
    "the question itself": lambda got: Back(200, json.dumps(got.data).encode()),
    "no JSON": lambda _: Back(200, b"yes"),
    "too much": lambda _: Back(200, b"y" * (MAX_ANSWER + 1)),
    "a redirect": lambda _: Back(307, b"", {"Location": "http://127.0.0.1:1/"}),
    "a refusal": lambda _: Back(403),
}


@pytest.mark.parametrize("what", REFUSED)
def test_anything_else_is_no_answer(what):
    """Forged, replayed, bound to something else, or not understood: the channel drops out."""
    with receiving(REFUSED[what]) as receiver, pytest.raises((ChannelLostError, ExceptionGroup)):
        ask(channel(receiver), question())


def test_answer_cannot_be_sent_twice():
    """Its nonce was seen."""

    def again(got):
        return signed(reply_to(got, "yes"), nonce="a" * 32)

    with receiving(again) as receiver:
        made = channel(receiver)
        assert ask(made, question())[0].yes
        with pytest.raises(ChannelLostError, match="sent before"):
            ask(made, question("git push"))


def test_receiver_that_cannot_be_reached_is_tried_again_and_told_once():
    """A restart of the receiver loses no question."""
    notes = []
    with receiving() as receiver:
        url = receiver.url
    (answer,) = ask(
        WebhookChannel(url, Secret(SHARED), note=notes.append), question(), timeout_s=0.5
    )

    assert answer.by == "timeout"
    assert notes == ["webhook: no answer from the receiver (ConnectError); it is asked again"]


def test_receiver_over_tls_is_the_one_that_is_vouched_for(tmp_path, monkeypatch):
    """Nobody else gets to see a question."""
    chain, tls = certificate(tmp_path)
    notes = []
    with receiving(says("yes"), tls=tls) as receiver:
        (answer,) = ask(channel(receiver, notes), question(), timeout_s=1)
        assert (answer.by, receiver.got) == ("timeout", [])
        assert "ConnectError" in notes[0]

        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        assert ask(channel(receiver), question())[0].yes


def close(receiver, asked=None):
    import anyio  # noqa: PLC0415 - for this alone

    answer = yes(by="terminal")
    return anyio.run(channel(receiver).close, asked or question(), answer)


def test_receiver_is_told_of_an_answer_from_elsewhere():
    """So that it stops asking its person; nothing secret is in it."""
    with receiving(says("yes")) as receiver:
        assert close(receiver) is None
    (got,) = receiver.of("closed")

    assert got.genuine
    assert (got.data["id"], got.data["answer"], got.data["by"]) == (
        question().id,
        "yes",
        "terminal",
    )


def test_answer_that_the_receiver_had_is_given_back_as_lost():
    """Genuine ones alone."""
    with receiving(lambda got: signed(reply_to(got, "no"))) as receiver:
        lost = close(receiver)
    with receiving(lambda got: signed(reply_to(got, "no"), key="guessed")) as receiver:
        forged = close(receiver)

    assert (lost.yes, lost.by, lost.who) == (False, "webhook", "bo")
    assert forged is None


def test_wider_yes_counts_only_where_a_pattern_was_offered():
    """An interpreter's is taken for exactly this."""
    wider, _ = answer_of(says("yes", scope="session", widened=True))
    exact, _ = answer_of(
        says("yes", scope="session", widened=True), asked=question("python -c 'print(1)'")
    )

    assert (wider.widened, exact.widened) == (True, False)


def test_content_that_is_too_long_is_not_sent_in_part():
    """A yes to a part would be a yes to the rest."""
    with receiving() as receiver, pytest.raises(ChannelLostError, match="cannot be sent"):
        ask(channel(receiver), question("x" * (MAX_SHOWN + 1), more={"digest": Digest("sha256:1")}))

    assert receiver.got == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:80/x", "http://localhost/", "https://a.example"])
def test_address_that_questions_may_go_to(url):
    """Encrypted, or never leaving this machine."""
    assert checked_url(url) == url
