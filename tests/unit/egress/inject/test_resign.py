import datetime as dt

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from orchestrator.egress.inject.aws_keys import AwsKeys
from orchestrator.egress.inject.head import RequestHead
from orchestrator.egress.inject.placeholders import AwsCredential, InjectionRefused
from orchestrator.egress.inject.resign import plan_resigning
from orchestrator.egress.inject.sigv4 import Scope, authorization, parse_authorization, sha256

REAL = AwsKeys("AKIA2222333344445555", "r" * 40)
TEMPORARY = AwsKeys("ASIA2222333344445555", "r" * 40, "t" * 60)
BOX = AwsKeys("AKIAGBX2222222222222", "b" * 40)
HOST = "things.example.com"


def asked(
    *,
    service: str = "s3",
    keys: AwsKeys = BOX,
    method: str = "GET",
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> RequestHead:
    """A request as an AWS library signs it, with whatever keys it was given."""
    request = AWSRequest(method, f"https://{HOST}/a/b?x=1", headers=headers or {}, data=body)
    auth = S3SigV4Auth if service == "s3" else SigV4Auth
    auth(Credentials(keys.id, keys.key, keys.token or None), service, "eu-west-1").add_auth(request)
    pairs = [(b"Host", HOST.encode())]
    pairs += [(name.encode(), value.encode()) for name, value in request.headers.items()]
    if body:
        pairs.append((b"Content-Length", str(len(body)).encode()))
    return RequestHead(method, "/a/b?x=1", tuple(pairs))


def expected(head: RequestHead, keys: AwsKeys, content: str, service: str = "s3") -> str:
    """What the server works out from the request that it got."""
    (value,) = head.values("authorization")
    parsed = parse_authorization(value)
    assert parsed is not None
    scope = Scope(head.values("x-amz-date")[0], "eu-west-1", service)
    assert parsed.scope == str(scope)
    return authorization(head, keys, scope, signed=parsed.headers, content=content)


def test_signature_of_the_box_becomes_the_real_one():
    """The server finds its own keys' signature, and the box's nowhere."""
    head = plan_resigning(asked(), AwsCredential(REAL, BOX), "eu-west-1/s3").finished()

    assert head.values("authorization") == [expected(head, REAL, sha256(b""))]
    assert BOX.id not in repr(head)
    assert BOX.key not in repr(head)


@pytest.mark.parametrize("place", ["eu-west-1/execute-api", "*/execute-api"])
def test_body_that_nobody_named_is_digested(place):
    """Most services sign the body without saying its digest."""
    body = b'{"a": 1}'
    request = asked(service="execute-api", method="POST", body=body)
    plan = plan_resigning(request, AwsCredential(REAL, BOX), place)
    assert plan.content is None
    head = plan.finished(body)

    assert head.values("authorization") == [
        expected(head, REAL, sha256(body), service="execute-api")
    ]


def test_request_without_a_body_needs_none():
    plan = plan_resigning(asked(service="sts"), AwsCredential(REAL, BOX), "eu-west-1/sts")

    assert plan.content == sha256(b"")


@pytest.mark.parametrize("word", ["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"])
def test_body_outside_the_signature_stays_outside(word):
    """Uploads stream; nothing waits for their end."""
    request = asked(method="PUT", body=b"data", headers={"X-Amz-Content-SHA256": word})
    request = request.with_header("X-Amz-Content-SHA256", word)
    head = plan_resigning(request, AwsCredential(REAL, BOX), "eu-west-1/s3").finished()

    assert head.values("authorization") == [expected(head, REAL, word)]


def test_temporary_keys_bring_their_token():
    """It is signed, and replaces whatever the box sent."""
    boxed = AwsKeys(BOX.id, BOX.key, "a token from elsewhere")
    head = plan_resigning(
        asked(keys=boxed), AwsCredential(TEMPORARY, BOX), "eu-west-1/s3"
    ).finished()

    assert head.values("x-amz-security-token") == [TEMPORARY.token]
    assert "x-amz-security-token" in head.values("authorization")[0]
    assert head.values("authorization") == [expected(head, TEMPORARY, sha256(b""))]


def test_token_of_the_box_is_not_sent_with_lasting_keys():
    boxed = AwsKeys(BOX.id, BOX.key, "a token from elsewhere")
    head = plan_resigning(asked(keys=boxed), AwsCredential(REAL, BOX), "eu-west-1/s3").finished()

    assert head.values("x-amz-security-token") == []
    assert head.values("authorization") == [expected(head, REAL, sha256(b""))]


def test_unsigned_request_is_signed():
    """A client that knows nothing of AWS needs nothing but the rule."""
    at = dt.datetime(2015, 8, 30, 12, 36, tzinfo=dt.UTC).timestamp()
    plain = RequestHead("PUT", "/a", ((b"Host", HOST.encode()), (b"Content-Length", b"3")))
    head = plan_resigning(
        plain, AwsCredential(REAL, BOX), "eu-west-1/s3", clock=lambda: at
    ).finished()

    assert head.values("x-amz-date") == ["20150830T123600Z"]
    assert head.values("x-amz-content-sha256") == ["UNSIGNED-PAYLOAD"]
    assert head.values("authorization") == [expected(head, REAL, "UNSIGNED-PAYLOAD")]


def with_authorization(value: str) -> RequestHead:
    return asked().with_header("Authorization", value)


FOREIGN = AwsKeys("AKIA9999888877776666", "f" * 40)
SIGNED = asked().values("authorization")[0]


@pytest.mark.parametrize(
    ("request_head", "place", "words"),
    [
        (asked(keys=FOREIGN), "eu-west-1/s3", "not this session's"),
        (asked(), "us-east-1/s3", "signed for eu-west-1/s3; the rule is for us-east-1/s3"),
        (asked(), "eu-west-1/sts", "the rule is for eu-west-1/sts"),
        (with_authorization("Bearer x"), "eu-west-1/s3", "another Authorization"),
        (
            with_authorization(SIGNED.replace("/aws4_request", "/other")),
            "eu-west-1/s3",
            "scope is malformed",
        ),
        (
            with_authorization(SIGNED.replace("SignedHeaders=host", "SignedHeaders=gone;host")),
            "eu-west-1/s3",
            "does not have: gone",
        ),
        (
            asked().with_header("X-Amz-Content-SHA256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
            "eu-west-1/s3",
            "signed one by one",
        ),
        (asked().with_header("X-Amz-Date", "today"), "eu-west-1/s3", "no time"),
    ],
)
def test_request_that_cannot_be_signed_anew_is_refused(request_head, place, words):
    """With the reason, and without a signature."""
    with pytest.raises(InjectionRefused, match=words):
        plan_resigning(request_head, AwsCredential(REAL, BOX), place)


@pytest.mark.parametrize("name", ["x-amz-date", "x-amz-content-sha256", "authorization"])
def test_header_that_comes_twice_is_refused(name):
    """Nobody knows which one a server takes."""
    request = asked()
    twice = RequestHead("GET", request.target, (*request.headers, (name.encode(), b"again")))

    with pytest.raises(InjectionRefused):
        plan_resigning(twice, AwsCredential(REAL, BOX), "eu-west-1/s3")


def test_presigned_url_is_refused():
    """Its signature is a part of the address."""
    request = AWSRequest("GET", f"https://{HOST}/a")
    S3SigV4QueryAuth(Credentials(BOX.id, BOX.key), "s3", "eu-west-1").add_auth(request)
    target = request.url.removeprefix(f"https://{HOST}")

    with pytest.raises(InjectionRefused, match="presigned"):
        plan_resigning(
            RequestHead("GET", target, ((b"Host", HOST.encode()),)),
            AwsCredential(REAL, BOX),
            "eu-west-1/s3",
        )
