"""Credentials that a protocol puts in a fixed place: headers, cookies, URLs, netrc, pgpass."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.values import is_reference, looks_random

_VALUE = r"[^\s\"'`,;<>(){}\[\]\\]{1,512}+"
_AUTHORIZATION = re.compile(
    r"(?i)authorization\\*[\"'`]?\]?[ \t]{0,8}[:=,][ \t]{0,8}\\*[\"'`]?"
    r"(?:(?P<scheme>[a-z][a-z0-9_-]{1,19})[ \t]{1,4})?(?P<secret>" + _VALUE + ")"
)
_BEARER = re.compile(r"(?i)bearer[ \t]{1,4}(?P<secret>" + _VALUE + ")")
_COOKIE = re.compile(r"(?i)cookie2?[\"']?[ \t]{0,4}[:=][ \t]{0,4}")
_COOKIE_PAIR = re.compile(
    r"(?<![^\s;\"',=])(?P<name>[^\s=;\"',]{1,128}+)=(?P<secret>[^\s;\"',]{1,4096}+)"
)
_USERINFO = re.compile(
    r"://(?P<user>[^\s:@/?#\"'<>`]{0,256}+)(?::(?P<secret>[^\s/?#\"'<>`]{1,512}+))?@?"
)
_SIGNED_QUERY = re.compile(
    r"(?i)[?&;](?:X-Amz-Signature|X-Amz-Security-Token|X-Amz-Credential|X-Goog-Signature|"
    r"Signature|sig|sv_sig)=(?P<secret>[A-Za-z0-9%+/=_-]{16,2048}+)"
)
_NETRC_REST = (
    r"(?:login\s{1,8}\S{1,256}+\s{1,8})(?:account\s{1,8}\S{1,256}+\s{1,8})?"
    r"password\s{1,8}(?P<secret>\S{1,512}+)"
)
_NETRC = re.compile(r"machine\s{1,8}\S{1,256}+\s{1,8}" + _NETRC_REST)
_NETRC_DEFAULT = re.compile(r"default\s{1,8}" + _NETRC_REST)
_PGPASS = re.compile(
    r"(?m)^[^\s:/#]{1,256}+:(?:[0-9]{2,5}|\*):[^\s:]{1,128}+:[^\s:]{1,128}+:(?P<secret>[^\s:]{1,512}+)$"
)
_SHADOW = re.compile(
    r":(?P<secret>\$(?:[156y]|2[abxy]|7|gy|apr1|argon2(?:id|i|d))\$[^\s:\"']{8,512}+)"
)
_MIN_SECRET = 4
_MIN_USER_TOKEN = 20
_PARAMETER = re.compile(r"[A-Za-z_][\w.-]*=[^=]")
"""``realm=…`` of a challenge, or just the next setting on the line."""


def find_header_secrets(text: str) -> Iterator[Span]:
    """Yield what stands where a protocol expects a credential."""
    yield from _find_authorization(text)
    yield from _find_cookies(text)
    yield from _find_userinfo(text)
    for kind, pattern in (
        ("signature", _SIGNED_QUERY),
        ("password", _NETRC),
        ("password", _NETRC_DEFAULT),
        ("password", _PGPASS),
        ("password-hash", _SHADOW),
    ):
        for match in pattern.finditer(text):
            if not is_reference(match["secret"]):
                yield Span(*match.span("secret"), kind, Certainty.CONTEXT)


def _find_authorization(text: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.finditer(text):
        if _is_credential(match["scheme"] or "", match["secret"]):
            yield Span(*match.span("secret"), "authorization", Certainty.CONTEXT)
    for match in _BEARER.finditer(text):
        if looks_random(match["secret"]) and not _is_no_secret(match["secret"]):
            yield Span(*match.span("secret"), "authorization", Certainty.CONTEXT)


def _is_credential(scheme: str, value: str) -> bool:
    if _is_no_secret(value):
        return False
    if scheme.lower() == "basic":
        return _is_user_and_password(value) or looks_random(value)
    return looks_random(value)


def _is_no_secret(value: str) -> bool:
    return _PARAMETER.match(value) is not None or is_reference(value)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _find_cookies(text: str) -> Iterator[Span]:
    at = 0
    while (header := _COOKIE.search(text, at)) is not None:
        end = text.find("\n", header.end())
        at = len(text) if end < 0 else end
        for pair in _COOKIE_PAIR.finditer(text, header.end(), at):
            if looks_random(pair["secret"]) and not is_reference(pair["secret"]):
                yield Span(*pair.span("secret"), "cookie", Certainty.CONTEXT)


def _find_userinfo(text: str) -> Iterator[Span]:
    for match in _USERINFO.finditer(text):
        user, secret = match["user"], match["secret"]
        if secret is None:
            if match[0].endswith("@") and len(user) >= _MIN_USER_TOKEN and looks_random(user):
                yield Span(*match.span("user"), "url-password", Certainty.CONTEXT)
            continue
        # The password ends at the last @ before the path: one that holds an @ itself is whole.
        start, length = match.start("secret"), secret.rfind("@")
        if length >= 1 and not is_reference(secret[:length]):
            yield Span(start, start + length, "url-password", Certainty.CONTEXT)
