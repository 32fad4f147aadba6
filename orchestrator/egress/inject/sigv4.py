"""AWS Signature Version 4, as its documentation gives it; pure."""

from __future__ import annotations

import hashlib
import hmac
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from orchestrator.egress.inject.aws_keys import AwsKeys
from orchestrator.egress.inject.head import RequestHead

ALGORITHM = "AWS4-HMAC-SHA256"
_UNRESERVED = "-_.~"
_KEEPS_PATH = frozenset(("s3", "s3-outposts", "s3-object-lambda", "s3express"))
"""Services whose path is signed as it is, encoded once and never tidied."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a signature is good for."""

    date: str
    """Time of the request, as ``20150830T123600Z``."""
    region: str
    service: str

    def __str__(self) -> str:
        """Return it as it stands in a credential."""
        return f"{self.date[:8]}/{self.region}/{self.service}/aws4_request"


@dataclass(frozen=True, slots=True)
class Signed:
    """The parts of an ``Authorization`` header."""

    identity: str
    scope: str
    headers: tuple[str, ...]
    signature: str


_AUTHORIZATION = re.compile(
    rf"{ALGORITHM}\s+Credential=([^/,\s]+)/([^,\s]+)\s*,\s*"
    r"SignedHeaders=([^,\s]+)\s*,\s*Signature=([0-9a-f]{64})"
)


def parse_authorization(value: str) -> Signed | None:
    """Return the parts of a signed request's ``Authorization``; None for any other."""
    match = _AUTHORIZATION.fullmatch(value.strip())
    if match is None:
        return None
    return Signed(match[1], match[2], tuple(match[3].split(";")), match[4])


def authorization(
    head: RequestHead, keys: AwsKeys, scope: Scope, *, signed: Sequence[str], content: str
) -> str:
    """Return the ``Authorization`` value of a request.

    ``signed`` are lower-case names of headers that it has; ``content`` is the SHA-256 of the body
    in hex, or the word that stands for it.
    """
    names = sorted(set(signed))
    canonical = canonical_request(head, service=scope.service, signed=names, content=content)
    text = "\n".join((ALGORITHM, scope.date, str(scope), sha256(canonical.encode("latin-1"))))
    signature = hmac.new(_signing_key(keys.key, scope), text.encode(), hashlib.sha256).hexdigest()
    return (
        f"{ALGORITHM} Credential={keys.id}/{scope}, SignedHeaders={';'.join(names)}, "
        f"Signature={signature}"
    )


def canonical_request(
    head: RequestHead, *, service: str, signed: Sequence[str], content: str
) -> str:
    """Return the text that both sides make of a request."""
    path, _, query = head.target.partition("?")
    lines = [
        f"{name}:{','.join(_squeezed(value) for value in head.values(name))}" for name in signed
    ]
    return "\n".join(
        (
            head.method,
            _canonical_path(path, service),
            _canonical_query(query),
            *lines,
            "",
            ";".join(signed),
            content,
        )
    )


def sha256(data: bytes) -> str:
    """Return the digest in hex."""
    return hashlib.sha256(data).hexdigest()


def _canonical_path(path: str, service: str) -> str:
    if service in _KEEPS_PATH:
        return quote(unquote_to_bytes(path), safe="/" + _UNRESERVED) or "/"
    tidy = posixpath.normpath("/" + path.lstrip("/"))
    if tidy != "/" and path.endswith("/"):
        tidy += "/"
    return quote(tidy, safe="/" + _UNRESERVED)


def _canonical_query(query: str) -> str:
    pairs = [part.partition("=")[::2] for part in query.split("&") if part]
    coded = sorted((_coded(name), _coded(value)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in coded)


def _coded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe=_UNRESERVED)


def _squeezed(value: str) -> str:
    return re.sub(" +", " ", value.strip())


def _signing_key(key: str, scope: Scope) -> bytes:
    secret = b"AWS4" + key.encode()
    for part in (scope.date[:8], scope.region, scope.service, "aws4_request"):
        secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
    return secret
