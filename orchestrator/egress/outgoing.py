"""A request as it goes to its server: written anew, with its credentials, and nothing of the hop."""

from __future__ import annotations

from dataclasses import dataclass

import h11

from orchestrator.egress import websocket
from orchestrator.egress.asked import Asked
from orchestrator.egress.hops import end_to_end, length_of
from orchestrator.egress.inject.head import RequestHead
from orchestrator.egress.inject.injector import Injected, Injector
from orchestrator.egress.inject.placeholders import InjectionRefused
from orchestrator.egress.inject.response import ResponseScrubber
from orchestrator.egress.seams import Onlooker
from orchestrator.schema.egress import InjectionTerms


@dataclass
class Outgoing:
    """What is sent; ``needs_body`` has to be answered by ``sign`` before ``render``."""

    head: RequestHead
    injected: Injected | None = None

    @property
    def needs_body(self) -> bool:
        """Whether the whole body has to be known before the head is."""
        return self.injected is not None and self.injected.needs_body

    @property
    def scrubber(self) -> ResponseScrubber | None:
        """For the answer; None where the session has no credentials."""
        return self.injected.response if self.injected is not None else None

    def sign(self, body: bytes) -> None:
        """Finish the head for this body."""
        if self.injected is not None:
            self.injected = self.injected.with_body(body)
            self.head = self.injected.head

    def render(self, parser: h11.Connection) -> bytes:
        """Return the head's bytes, and let the parser await the answer to it."""
        head = self.head
        request = h11.Request(method=head.method, target=head.target, headers=list(head.headers))
        return parser.send(request) or b""


def plan_outgoing(
    asked: Asked,
    injections: tuple[InjectionTerms, ...],
    *,
    injector: Injector | None,
    onlooker: Onlooker | None,
) -> Outgoing:
    """Return the request to send. InjectionRefused where it may not have its credentials.

    It may be sent only over TLS that is verified, where it is for https.
    """
    headers = tuple(item for item in end_to_end(asked.headers) if item[0].lower() != b"host")
    headers = ((b"Host", asked.place.authority.encode()), *headers)
    if asked.upgrade:
        headers = websocket.switching(headers)
    if asked.has_body and length_of(headers) is None:
        headers = (*headers, (b"Transfer-Encoding", b"chunked"))
    if onlooker is not None:
        headers = onlooker.request(headers)
    head = RequestHead(asked.method, asked.target, headers)
    if injector is not None and not injections:
        injector.refuse_misplaced(head)
    if not injections and (injector is None or not injector.cleans()):
        return Outgoing(head)
    if injector is None:
        raise InjectionRefused("this session has no credentials to put into it")
    verified = asked.place.scheme == "https"
    injected = injector.inject(head, injections, host=asked.place.host, verified=verified)
    return Outgoing(injected.head, injected)
