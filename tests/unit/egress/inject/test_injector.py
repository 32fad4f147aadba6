import base64
from dataclasses import replace

import pytest

from orchestrator.egress.inject.head import RequestHead, basic_pair, basic_value
from orchestrator.egress.inject.injector import Injected, Injector
from orchestrator.egress.inject.placeholders import InjectionRefused, Placeholders
from orchestrator.egress.inject.response import ScrubRefused
from orchestrator.schema.egress import InjectionTerms
from tests.support.secrets import FixedSecrets

KEY = "live-key-0123456789"
PAIR = "AKIA2222333344445555:" + "r" * 40
HOST = "api.example.com"
HEADER = InjectionTerms("user/api", "api", "header", "X-Api-Key")
BEARER = InjectionTerms("user/api", "api", "header", "Authorization", "Bearer {secret}")
BASIC = InjectionTerms("user/git", "api", "basic", "git")
QUERY = InjectionTerms("user/q", "api", "query", "key")
AWS = InjectionTerms("user/aws", "aws", "sigv4", "eu-west-1/execute-api")


@pytest.fixture
def book() -> Placeholders:
    return Placeholders(FixedSecrets(api=KEY, aws=PAIR, other="other-key-0123456789"))


def head(*headers: tuple[str, str], target: str = "/v1/x", method: str = "GET") -> RequestHead:
    pairs = tuple((name.encode(), value.encode()) for name, value in headers)
    return RequestHead(method, target, ((b"Host", HOST.encode()), *pairs))


def injected(book: Placeholders, request: RequestHead, *terms: InjectionTerms) -> Injected:
    return Injector(book).inject(request, terms, host=HOST, verified=True)


@pytest.mark.parametrize("given", [None, "placeholder", ""])
@pytest.mark.parametrize(
    ("terms", "name", "value"),
    [
        (HEADER, "X-Api-Key", KEY),
        (BEARER, "Authorization", f"Bearer {KEY}"),
        (BASIC, "Authorization", basic_value("git", KEY)),
    ],
)
def test_secret_goes_where_the_rule_says(book, terms, name, value, given):
    """In place of the placeholder, of nothing, and of an empty value."""
    own = book.credential("api").placeholder
    request = head() if given is None else head((name, own if given else ""))
    out = injected(book, request, terms)

    assert out.head.values(name) == [value]
    assert own not in repr(out.head)
    assert not out.needs_body
    assert out.with_body(b"ignored") is out


def test_placeholder_in_another_place_is_taken_out(book):
    """A tool writes it where it is used to; the server gets it where the rule says, once."""
    own = book.credential("api").placeholder
    request = head(
        ("authorization", f"token {own}"), ("X-API-KEY", own), ("x_api_key", own), ("Accept", "*/*")
    )
    out = injected(book, request, BEARER)

    assert own not in repr(out.head)
    assert [name for name, _ in out.head.headers] == [
        b"Host",
        b"Accept",
        b"Accept-Encoding",
        b"Authorization",
    ]


def test_plain_bytes_are_asked_for(book):
    """What is compressed could not be searched."""
    request = head(("Accept-Encoding", "gzip, br"), ("Sec-WebSocket-Extensions", "x-deflate"))
    out = injected(book, request, HEADER)

    assert out.head.values("accept-encoding") == ["identity"]
    assert out.head.values("sec-websocket-extensions") == []


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/v1/x", f"/v1/x?key={KEY}"),
        ("/v1/x?", f"/v1/x?key={KEY}"),
        ("/v1/x?a=1&b=%20;c", f"/v1/x?a=1&b=%20;c&key={KEY}"),
        ("/v1/x?a=1&key=OWN&b=2", f"/v1/x?a=1&b=2&key={KEY}"),
        ("/v1/x?key=OWN&b=2", f"/v1/x?b=2&key={KEY}"),
        ("/v1/x?k%65y=OWN", f"/v1/x?key={KEY}"),
        ("/v1/x?key=", f"/v1/x?key={KEY}"),
        ("/v%31/x?key=OWN&key=OWN", f"/v%31/x?key={KEY}"),
    ],
)
def test_query_keeps_all_but_its_parameter(book, target, expected):
    """Byte for byte, with the secret once."""
    own = book.credential("api").placeholder
    out = injected(book, head(target=target.replace("OWN", own)), QUERY)

    assert out.head.target == expected


def test_user_of_the_client_is_kept_where_the_rule_names_none(book):
    own = book.credential("api").placeholder
    terms = InjectionTerms("user/git", "api", "basic", "")
    named = injected(book, head(("Authorization", basic_value("me", own))), terms)
    token = injected(book, head(("Authorization", basic_value(own, "x"))), terms)

    assert basic_pair(named.head.values("authorization")[0]) == ("me", KEY)
    assert basic_pair(token.head.values("authorization")[0]) == ("", KEY)


def test_secret_can_be_the_user(book):
    terms = InjectionTerms("user/pay", "api", "basic", "{secret}")
    out = injected(book, head(), terms)

    assert basic_pair(out.head.values("authorization")[0]) == (KEY, "")


@pytest.mark.parametrize("terms", [HEADER, BEARER, BASIC, QUERY, AWS])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Api-Key", "foreign"),
        ("X-Goog-Api-Key", "foreign"),
        ("Authorization", "Bearer foreign"),
        ("Authorization", basic_value("me", "foreign")),
        ("Cookie", "sid=foreign"),
    ],
)
def test_foreign_credential_is_refused(book, terms, name, value):
    """Whatever form the rule's own one has."""
    with pytest.raises(InjectionRefused, match=r"not this session.s|another Authorization"):
        injected(book, head((name, value)), terms)


@pytest.mark.parametrize("terms", [HEADER, QUERY])
def test_foreign_parameter_is_refused(book, terms):
    with pytest.raises(InjectionRefused, match="parameter api_key of the query"):
        injected(book, head(target="/v1/x?api_key=foreign"), terms)


def test_placeholder_of_another_secret_is_foreign(book):
    """A rule sends its own secret, and the box cannot choose another one."""
    with pytest.raises(InjectionRefused, match="header X-Api-Key"):
        injected(book, head(("X-Api-Key", book.credential("other").placeholder)), HEADER)


def test_cookie_that_came_from_the_host_may_go_back(book):
    """A log-in that began with this session's credential goes on."""
    injector = Injector(book)
    first = injector.inject(head(), [HEADER], host=HOST, verified=True)
    first.response.head(200, b"OK", ((b"Set-Cookie", b"sid=1; Path=/"),))
    again = injector.inject(head(("Cookie", "sid=1")), [HEADER], host=HOST, verified=True)

    assert again.head.values("cookie") == ["sid=1"]
    with pytest.raises(InjectionRefused, match="cookie 'sid'"):
        injector.inject(head(("Cookie", "sid=1")), [HEADER], host="b.example", verified=True)


@pytest.mark.parametrize("terms", [HEADER, AWS])
def test_nothing_goes_over_what_is_not_verified(book, terms):
    with pytest.raises(InjectionRefused, match="verified TLS only"):
        Injector(book).inject(head(), [terms], host=HOST, verified=False)


def test_missing_secret_refuses(book):
    """The request does not go out without it."""
    terms = InjectionTerms("user/gone", "gone", "header", "X-Key")
    with pytest.raises(InjectionRefused, match="cannot be read on the host: no key named gone"):
        injected(book, head(), terms)


def test_two_credentials_go_to_two_places(book):
    """And both are kept out of the answer."""
    other = InjectionTerms("user/two", "other", "header", "X-Second-Key")
    out = injected(book, head(), HEADER, other)
    _, headers = out.response.head(200, b"", ((b"X-Echo", f"{KEY} other-key-0123456789".encode()),))

    assert out.head.values("x-api-key") == [KEY]
    assert out.head.values("x-second-key") == ["other-key-0123456789"]
    assert KEY.encode() not in headers[0][1]
    assert b"other-key-0123456789" not in headers[0][1]


def test_two_credentials_for_one_place_are_refused(book):
    """Which one counts is for the policy to say."""
    other = InjectionTerms("team/two", "other", "basic", "me")
    with pytest.raises(InjectionRefused, match="user/api, team/two"):
        injected(book, head(), BEARER, other)


def test_basic_in_an_answer_is_clean(book):
    """An echo of the header as it was sent."""
    out = injected(book, head(), BASIC)
    sent = out.head.values("authorization")[0].encode()
    _, headers = out.response.head(200, b"", ((b"X-Echo", sent),))
    coded = base64.b64encode(KEY.encode()[3:-3])

    assert len(headers[0][1]) == len(sent)
    assert coded[2:-2] not in headers[0][1]
    assert headers[0][1] != sent


def test_request_is_signed_with_its_body(book):
    """The digest of a body is known when the body is."""
    request = head(("Content-Length", "2"), method="POST")
    out = injected(book, request, AWS)
    assert out.needs_body
    done = out.with_body(b"{}")
    keys = book.aws("aws")

    assert not done.needs_body
    assert f"Credential={keys.real.id}/" in done.head.values("authorization")[0]
    assert done.response is out.response
    _, headers = done.response.head(
        403, b"", ((b"X-Echo", f"{keys.real.id} {keys.real.key}".encode()),)
    )
    assert headers[0][1] == f"{keys.box.id} {keys.box.key}".encode()


def test_request_without_a_body_is_signed_at_once(book):
    out = injected(book, head(), AWS)

    assert not out.needs_body
    assert "AWS4-HMAC-SHA256" in out.head.values("authorization")[0]


def test_session_token_is_kept_out_of_the_answer():
    token = "t" * 30
    keyed = Placeholders(FixedSecrets(aws=f"{PAIR}:{token}"))
    out = injected(keyed, head(), AWS)
    _, headers = out.response.head(403, b"", ((b"X-Echo", token.encode()),))

    assert out.head.values("x-amz-security-token") == [token]
    assert token.encode() not in headers[0][1]


@pytest.mark.parametrize("host", [HOST, "other.example"])
def test_every_later_answer_is_cleaned(book, host):
    """An answer to another request may hold what was sent before, also another host's."""
    injector = Injector(book)
    assert not injector.cleans()
    injector.inject(head(), [HEADER], host=HOST, verified=True)
    book.forget()
    plain = head(("Accept-Encoding", "gzip"), ("X-Api-Key", "anything"), ("Cookie", "a=b"))
    out = injector.inject(plain, [], host=host, verified=True)
    _, headers = out.response.head(200, b"", ((b"X-Last", KEY.encode()),))

    assert injector.cleans()
    assert out.head.values("x-api-key") == ["anything"]
    assert out.head.values("accept-encoding") == ["identity"]
    assert headers == ((b"X-Last", book.credential("api").placeholder.encode()),)


def test_secrets_are_cleaned_before_they_are_first_sent(book):
    """What the box has a placeholder for is known from the start: keys of a pair too."""
    box = book.variables([replace(HEADER, variables=("KEY",)), AWS])
    out = Injector(book).inject(head(), [], host="other.example", verified=False)
    text = f"{KEY} {PAIR.replace(':', ' ')}"
    _, headers = out.response.head(200, b"", ((b"X", text.encode()),))

    pair = f"{box['AWS_ACCESS_KEY_ID']} {box['AWS_SECRET_ACCESS_KEY']}"
    assert headers[0][1].decode() == f"{box['KEY']} {pair}"


RANGES = ["Range", "If-Range", "Request-Range", "X-Ms-Range", "x_range", "A-IM"]


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("terms", [HEADER, BEARER, BASIC, QUERY])
def test_pieces_are_not_asked_of_who_knows_a_secret(book, terms, name):
    """A secret could come out in pieces too small to be known; whatever the header is called."""
    injector = Injector(book)
    asked = head((name, "bytes=0-7"), ("Content-Range", "bytes 0-7/9"))
    before = injector.inject(asked, [], host=HOST, verified=True)
    out = injector.inject(asked, [terms], host=HOST, verified=True)
    after = injector.inject(asked, [], host=HOST, verified=True)
    elsewhere = injector.inject(asked, [], host="b.example", verified=True)

    for one in (before, elsewhere):
        assert one.head.values(name)
        one.response.head(206, b"", ())
    for one in (out, after):
        assert not one.head.values(name)
        assert one.head.values("content-range")
        with pytest.raises(ScrubRefused, match="piece of an answer"):
            one.response.head(206, b"", ())


def test_stores_whose_key_is_never_sent_give_pieces(book):
    """Their clients fetch what is large that way; not so where another secret was sent as well."""
    injector, asked = Injector(book), head(("Range", "bytes=0-7"))
    signed = injector.inject(asked, [AWS], host=HOST, verified=True)
    both = injector.inject(asked, [AWS, QUERY], host=HOST, verified=True)
    later = injector.inject(asked, [AWS], host=HOST, verified=True)

    assert signed.head.values("range") == ["bytes=0-7"]
    signed.response.head(206, b"", ())
    assert both.head.values("range") == later.head.values("range") == []


@pytest.mark.parametrize("terms", [HEADER, BEARER, AWS])
@pytest.mark.parametrize("place", ["query", "header"])
def test_placeholder_beside_the_rules_place_is_refused(book, terms, place):
    """It would go out as it is, and a server that logs queries could do nothing with it."""
    own = book.credential("api").placeholder
    inside = head(("X-Note", own)) if place == "header" else head(target=f"/v1/x?q=a{own}")

    with pytest.raises(InjectionRefused, match=r"placeholder of the secret api|not this session"):
        injected(book, inside, terms)
    injected(book, head(target=f"/v1/{own}"), terms)


def test_second_secret_of_a_host_is_cleaned_with_the_first(book):
    injector = Injector(book)
    other = InjectionTerms("user/two", "other", "header", "X-Second-Key")
    injector.inject(head(), [other], host=HOST, verified=True)
    out = injector.inject(head(), [HEADER], host=HOST, verified=True)

    assert list(out.response.body(b"other-key-0123456789|")) == [
        book.credential("other").placeholder.encode() + b"|"
    ]


def test_with_too_many_hosts_each_counts_as_told(book):
    """None is forgotten."""
    injector = Injector(book)
    for number in range(4096):
        assert not injector.was_told("b.example")
        injector.inject(head(), [HEADER], host=f"h{number}.example", verified=True)

    assert injector.was_told("h0.example")
    assert injector.was_told("b.example")


@pytest.mark.parametrize(
    "request_head",
    [
        head(("Authorization", "Bearer OWN")),
        head(("Authorization", "BASIC")),
        head(("X-Anything", "OWN")),
        head(target="/x?key=OWN"),
        head(("Authorization", "AWS4-HMAC-SHA256 Credential=BOXID/2026, Signature=00")),
    ],
)
def test_placeholder_that_nothing_replaces_is_told_of(book, request_head):
    """A server would only say that it does not know it."""
    injector = Injector(book)
    own, box = book.credential("api").placeholder, book.aws("aws").box.id
    words = {"OWN": own, "BASIC": basic_value("me", own), "BOXID": box}
    text = [(name.decode(), value.decode()) for name, value in request_head.headers]
    for word, value in words.items():
        text = [(name, content.replace(word, value)) for name, content in text]
    pairs = tuple((name.encode(), content.encode()) for name, content in text)
    carrying = RequestHead("GET", request_head.target.replace("OWN", own), pairs)

    with pytest.raises(InjectionRefused, match=r"placeholder of the secret (api|aws)"):
        injector.refuse_misplaced(carrying)
    injector.refuse_misplaced(head(("Authorization", "Bearer something-else")))
