import datetime as dt
from urllib.parse import quote

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.egress.inject.aws_keys import AwsKeys
from orchestrator.egress.inject.head import RequestHead
from orchestrator.egress.inject.sigv4 import (
    Scope,
    authorization,
    canonical_request,
    parse_authorization,
    sha256,
)

EMPTY = sha256(b"")
# The keys of AWS's own documentation, which open nothing.
GENERAL = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
STORAGE = AwsKeys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
BUCKET = "examplebucket.s3.amazonaws.com"


def head(target: str, *, method: str = "GET", **headers: str) -> RequestHead:
    pairs = tuple((name.replace("_", "-").encode(), v.encode()) for name, v in headers.items())
    return RequestHead(method, target, pairs)


def signature(request: RequestHead, keys: AwsKeys, scope: Scope, content: str) -> str:
    names = [name.decode().lower() for name, _ in request.headers]
    parsed = parse_authorization(authorization(request, keys, scope, signed=names, content=content))
    assert parsed is not None
    assert parsed.identity == keys.id
    assert parsed.headers == tuple(sorted(names))
    return parsed.signature


def test_documented_request_of_iam_is_signed_as_documented():
    """The worked example of AWS's reference, its canonical request's digest included."""
    request = head(
        "/?Action=ListUsers&Version=2010-05-08",
        content_type="application/x-www-form-urlencoded; charset=utf-8",
        host="iam.amazonaws.com",
        x_amz_date="20150830T123600Z",
    )
    names = ["content-type", "host", "x-amz-date"]
    canonical = canonical_request(request, service="iam", signed=names, content=EMPTY)
    scope = Scope("20150830T123600Z", "us-east-1", "iam")

    assert (
        sha256(canonical.encode())
        == "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"
    )
    assert (
        signature(request, GENERAL, scope, EMPTY)
        == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    )


@pytest.mark.parametrize(
    ("request_head", "content", "expected"),
    [
        (
            head("/test.txt", host=BUCKET, range="bytes=0-9"),
            EMPTY,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            head(
                "/test%24file.text",
                method="PUT",
                date="Fri, 24 May 2013 00:00:00 GMT",
                host=BUCKET,
                x_amz_storage_class="REDUCED_REDUNDANCY",
            ),
            sha256(b"Welcome to Amazon S3."),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            head("/?lifecycle", host=BUCKET),
            EMPTY,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            head("/?max-keys=2&prefix=J", host=BUCKET),
            EMPTY,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_documented_requests_of_s3_are_signed_as_documented(request_head, content, expected):
    """Headers, a path with an escape, a parameter without a value, two parameters."""
    request = request_head.with_header("x-amz-content-sha256", content)
    request = request.with_header("x-amz-date", "20130524T000000Z")
    scope = Scope("20130524T000000Z", "us-east-1", "s3")

    assert signature(request, STORAGE, scope, content) == expected


PATHS = st.lists(
    st.sampled_from(["a", "b c", "ü", "$", "x+y", "~", "a=b", ".", "..", ""]), max_size=4
)


@given(
    parts=PATHS,
    query=st.lists(st.tuples(st.sampled_from(["a", "b", "B"]), st.text(max_size=4)), max_size=4),
    storage=st.booleans(),
    note=st.sampled_from(["x", " x  y ", "a,b"]),
)
def test_other_implementation_agrees(parts, query, storage, note):
    """botocore signs the same request with the same signature."""
    path = "/" + "/".join(quote(part) for part in parts)
    text = "&".join(f"{name}={quote(value, safe='')}" for name, value in query)
    target = f"{path}?{text}" if text else path
    service = "s3" if storage else "execute-api"
    theirs = AWSRequest("GET", f"https://api.example.com{target}", headers={"X-Amz-Note": note})
    now = dt.datetime.now(dt.UTC)
    credentials = Credentials(GENERAL.id, GENERAL.key)
    auth = (S3SigV4Auth if storage else SigV4Auth)(credentials, service, "eu-west-1")
    auth.add_auth(theirs)
    signed = parse_authorization(theirs.headers["Authorization"])
    assert signed is not None
    date = theirs.headers["X-Amz-Date"]
    pairs = [(name.encode(), value.encode()) for name, value in theirs.headers.items()]
    ours = RequestHead("GET", target, ((b"Host", b"api.example.com"), *pairs))
    content = theirs.headers.get("X-Amz-Content-SHA256", EMPTY)
    value = authorization(
        ours, GENERAL, Scope(date, "eu-west-1", service), signed=signed.headers, content=content
    )

    assert parse_authorization(value) == signed
    assert now.strftime("%Y") in date


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer x",
        "AWS4-ECDSA-P256-SHA256 Credential=a/b, SignedHeaders=host, Signature=" + "0" * 64,
        "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=00",
        "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=" + "0" * 64,
    ],
)
def test_other_authorizations_are_not_taken_apart(value):
    assert parse_authorization(value) is None


def test_spaces_between_the_parts_do_not_matter():
    """Older clients write none."""
    value = "AWS4-HMAC-SHA256 Credential=a/b/c,SignedHeaders=host;x,Signature=" + "0" * 64
    parsed = parse_authorization(value)

    assert parsed is not None
    assert (parsed.identity, parsed.scope, parsed.headers) == ("a", "b/c", ("host", "x"))
