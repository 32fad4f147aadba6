import h11
import pytest

from orchestrator.egress.asked import Asked
from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.inject.placeholders import InjectionRefused, Placeholders
from orchestrator.egress.outgoing import plan_outgoing
from orchestrator.egress.targets import Place
from orchestrator.schema.egress import InjectionTerms
from tests.support.secrets import FixedSecrets

PLACE = Place("http", "a.example", 8080)


def asked(*headers, first=None, upgrade=""):
    return Asked("POST", "/x?y", PLACE, headers, b"1.1", None, first, upgrade)


def rendered(request):
    out = plan_outgoing(request, (), injector=None, onlooker=None)
    assert not out.needs_body
    assert out.scrubber is None
    out.sign(b"")
    return out.render(h11.Connection(h11.CLIENT))


def test_the_host_is_the_place_that_was_judged_whatever_the_client_wrote():
    out = rendered(asked((b"Host", b"A.EXAMPLE.:8080"), first=h11.EndOfMessage()))

    assert out == b"POST /x?y HTTP/1.1\r\nHost: a.example:8080\r\n\r\n"


def test_a_body_without_a_length_is_sent_in_chunks():
    out = rendered(asked((b"Transfer-Encoding", b"Chunked")))

    assert out.endswith(b"Transfer-Encoding: chunked\r\n\r\n")


def test_a_switch_is_asked_for_in_our_own_words():
    out = rendered(
        asked(
            (b"Connection", b"upgrade, X"),
            (b"X", b"1"),
            first=h11.EndOfMessage(),
            upgrade="websocket",
        )
    )

    assert out.endswith(b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert b"X: 1" not in out


def test_every_answer_is_cleaned_once_the_session_has_a_secret():
    """The host of this request was never sent one; another may have passed it on."""
    book = Placeholders(FixedSecrets(api="live-key-0123456789"))
    request = asked(first=h11.EndOfMessage())
    before = plan_outgoing(request, (), injector=Injector(book), onlooker=None)
    own = book.credential("api").placeholder
    after = plan_outgoing(request, (), injector=Injector(book), onlooker=None)

    assert before.scrubber is None
    assert after.scrubber is not None
    assert list(after.scrubber.body(b"live-key-0123456789|")) == [own.encode() + b"|"]


def test_what_needs_a_credential_is_refused_where_there_is_none():
    terms = (InjectionTerms("session/r", "api", "header", "X-Key"),)

    with pytest.raises(InjectionRefused):
        plan_outgoing(asked(), terms, injector=None, onlooker=None)
