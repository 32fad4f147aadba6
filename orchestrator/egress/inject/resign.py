"""A request that the box signed with its placeholder keys, signed anew with the real ones."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.egress.inject.foreign import parameters
from orchestrator.egress.inject.head import RequestHead
from orchestrator.egress.inject.placeholders import AwsCredential, InjectionRefused
from orchestrator.egress.inject.sigv4 import (
    Scope,
    Signed,
    authorization,
    parse_authorization,
    sha256,
)

CONTENT, DATE, TOKEN = "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"
SIGNED_IN = frozenset(("authorization", TOKEN))
"""Headers that hold what the box signed with."""
_EMPTY = sha256(b"")
_UNSIGNED = "UNSIGNED-PAYLOAD"
_WORDS = frozenset((_UNSIGNED, "STREAMING-UNSIGNED-PAYLOAD-TRAILER"))
"""In place of a digest, where the body is not part of the signature."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{8}T\d{6}Z")


@dataclass(frozen=True, slots=True)
class Resigning:
    """A request that was found in order, before its signature."""

    head: RequestHead
    keys: AwsCredential
    scope: Scope
    signed: tuple[str, ...]
    content: str | None
    """None where the digest of the body is still to be taken."""

    def finished(self, body: bytes | None = None) -> RequestHead:
        """Return the request with its signature; ``body`` where its digest is wanted."""
        content = self.content if self.content is not None else sha256(body or b"")
        value = authorization(
            self.head, self.keys.real, self.scope, signed=self.signed, content=content
        )
        return self.head.with_header("Authorization", value)


def plan_resigning(
    head: RequestHead, keys: AwsCredential, place: str, *, clock: Callable[[], float] = time.time
) -> Resigning:
    """Return how a request is to be signed for ``place``, ``REGION/SERVICE``. InjectionRefused.

    The head is the one that goes out but for what is changed here.
    """
    region, _, service = place.partition("/")
    _refuse_presigned(head)
    asked = _asked(head, keys)
    if asked is not None:
        region = _checked_scope(asked.scope, region, service)
    head = head.without(SIGNED_IN)
    if not head.values(DATE):
        head = head.with_header("X-Amz-Date", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(clock())))
    (date, *more) = head.values(DATE)
    if more or not _TIME.fullmatch(date):
        raise InjectionRefused("the request's X-Amz-Date is no time in AWS's form")
    head, content = _content(head, service)
    names = set(asked.headers if asked else ("host", "content-type")) - {TOKEN}
    names |= {"host", *(name for name in _names(head) if name.startswith("x-amz-"))}
    missing = sorted(name for name in names - {"content-type"} if name not in _names(head))
    if missing:
        raise InjectionRefused(f"the request signs headers that it does not have: {missing[0]}")
    if keys.real.token:
        head = head.with_header("X-Amz-Security-Token", keys.real.token)
        names.add(TOKEN)
    signed = tuple(sorted(names & _names(head)))
    return Resigning(head, keys, Scope(date, region, service), signed, content)


def _asked(head: RequestHead, keys: AwsCredential) -> Signed | None:
    """Return what the box's own signature says; None where there is none."""
    found = head.values("authorization")
    if not found:
        return None
    asked = parse_authorization(found[0]) if len(found) == 1 else None
    if asked is None:
        raise InjectionRefused(
            "expected a request signed with AWS4-HMAC-SHA256, got another Authorization"
        )
    if asked.identity != keys.box.id:
        raise InjectionRefused(
            "the request brings a credential that is not this session's: it is signed with other "
            "keys than those in the box's variables"
        )
    return asked


def _checked_scope(scope: str, region: str, service: str) -> str:
    """Return the region to sign for."""
    parts = scope.split("/")
    if len(parts) != 4 or parts[3] != "aws4_request":
        raise InjectionRefused("the request's credential scope is malformed")
    if parts[2] != service or region not in {"*", parts[1]}:
        raise InjectionRefused(
            f"the request is signed for {parts[1]}/{parts[2]}; the rule is for {region}/{service}"
        )
    return parts[1]


def _refuse_presigned(head: RequestHead) -> None:
    if any(name.lower().startswith("x-amz-") for name, _ in parameters(head.target)):
        raise InjectionRefused(
            "presigned URLs are not signed anew; let the client sign with headers instead"
        )


def _content(head: RequestHead, service: str) -> tuple[RequestHead, str | None]:
    """Return what stands for the body in the signature; None for the digest of what is sent."""
    given = head.values(CONTENT)
    if len(given) > 1:
        raise InjectionRefused("the request has two digests of its body")
    if given:
        if given[0] not in _WORDS and not _DIGEST.fullmatch(given[0]):
            raise InjectionRefused(
                f"the request's body is sent as {given[0][:60]}, whose chunks are signed one by "
                "one; let the client send it whole, or unsigned"
            )
        return head, given[0]
    if service == "s3":
        return head.with_header("X-Amz-Content-Sha256", _UNSIGNED), _UNSIGNED
    sized = any(value.strip() != "0" for value in head.values("content-length"))
    return head, None if sized or head.values("transfer-encoding") else _EMPTY


def _names(head: RequestHead) -> set[str]:
    return {name.decode("latin-1").lower() for name, _ in head.headers}
