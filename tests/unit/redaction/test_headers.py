"""Credentials in their protocol's own place."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from orchestrator.redaction.headers import find_header_secrets

from .conftest import HEX, made

Redact = Callable[[str], str]
BASIC = base64.b64encode(b"user:passwd").decode()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("> Authorization: Bearer {}\n> Accept: */*\n", made(40)),
        ("authorization: bearer {}", made(40)),
        ("Authorization: Basic {}\n", BASIC),
        ("Proxy-Authorization: Basic {}", BASIC),
        ("Authorization: token {}", made(40, HEX)),
        ("Authorization: {}\n", made(40)),
        ('{{"Authorization": "Bearer {}"}}', made(30)),
        ("headers['Authorization'] = 'Bearer {}'", made(30)),
        ('h.Set("Authorization", "Bearer {}")', made(30)),
        ("curl -H 'Authorization: Bearer {}' https://x", made(30)),
        (r"{{\"authorization\":\"Bearer {}\"}}", made(30)),
        ("use Bearer {} here", made(32)),
        ("Set-Cookie: id={}; HttpOnly", made(32)),
        ("Cookie: theme=dark; session={}; lang=en", made(32, HEX)),
        ("https://user:{}@host.example/path", made(12)),
        ("redis://:{}@h:6379", made(12)),
        ("mongodb+srv://u:{}@c.example/?x=1", "p@ss" + made(8)),
        ("amqp://guest:{}@mq and more", "guestpw"),
        ("https://{}@github.com/o/r", made(40, HEX)),
        ("GET /b/o?X-Amz-Credential=x&X-Amz-Signature={}&y=1", made(64, HEX)),
        ("https://a.blob.example/c?sv=2021&sig={}&se=1", made(40) + "%3D"),
        ("machine h login u password {}\n", made(10)),
        ("machine h\n  login u\n  password {}\n", made(10)),
        ("default login u password {}\n", made(10)),
        ("localhost:5432:db:user:{}\n", made(10)),
        ("*:*:*:user:{}\n".replace("*:*", "h:*"), made(10)),
        ("root:{}:19000:0:99999", "$6$" + made(8) + "$" + made(60)),
        ("me:{}\n", "$apr1$" + made(8) + "$" + made(22)),
    ],
)
def test_credential_goes_and_its_frame_stays(redact: Redact, text: str, secret: str) -> None:
    """Header, host, user and neighbours can still be read."""
    before, after = text.format("\0").split("\0")

    result = redact(f"{before}{secret}{after}")

    assert result.startswith(f"{before}[redacted:")
    assert result.endswith(f"]{after}")


@pytest.mark.parametrize(
    "text",
    [
        "Use a Bearer token in the Authorization header.",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <token>",
        'headers = {"Authorization": f"Bearer {token}"}',
        "Bearer authentication is required for this endpoint",
        'WWW-Authenticate: Bearer realm="example", error="invalid_token"',
        "Authorization: Basic realm=x",
        "Authorization: Basic credentials-here or Basic YWJj",
        "token_type=bearer TOKEN_TTL=3600",
        "postgres://localhost/db git@github.com:o/r.git https://me@host.example/",
        "https://user:$PASSWORD@host https://user:<password>@host https://user:***@host",
        "http://localhost:8080/path@2x.png see https://example.com:8443/a@b",
        "Cookie: theme=dark; lang=en",
        "cookies are small; a cookie: see RFC 6265",
        "user:x:1000:1000::/home/user:/bin/bash",
        "the machine has a default login page with a password field",
        "12:30:45:67:89",
    ],
)
def test_frame_without_credential_stays(redact: Redact, text: str) -> None:
    """Prose, references, challenges and addresses are no leak."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "://a:",
        "https://",
        "cookie: a=",
        "cookie:a",
        "machine a login b ",
        "default ",
        "a:1:b:c:",
        "Authorization: Bearer ",
    ],
)
def test_hostile_repetition_is_searched_through(unit: str) -> None:
    """Frames without end do not make the search quadratic."""
    assert isinstance(list(find_header_secrets(unit * (1_000_000 // len(unit)))), list)
