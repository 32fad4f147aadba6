"""Puts credentials into requests that policy let out with them, last before they are sent."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import quote, unquote_plus

from orchestrator.egress.inject.cookies import SeenCookies
from orchestrator.egress.inject.credential_names import is_credential_header
from orchestrator.egress.inject.echoes import Echoes
from orchestrator.egress.inject.foreign import foreign_header, foreign_parameter
from orchestrator.egress.inject.head import RequestHead, basic_pair, basic_value
from orchestrator.egress.inject.placeholders import Credential, InjectionRefused, Placeholders
from orchestrator.egress.inject.resign import SIGNED_IN, Resigning, plan_resigning
from orchestrator.egress.inject.response import ResponseScrubber
from orchestrator.schema.egress import InjectionTerms

MAX_SIGNED_BODY = 16 * 1024 * 1024
"""Bytes of a body that are read before the request is sent, where its digest is signed."""
_MOST_HOSTS = 4096
"""That were sent a secret; with more of them, each host counts as one."""
_SECRET = "{secret}"  # noqa: S105 - the word of a rule's format
_AUTHORIZATION = "Authorization"


@dataclass(frozen=True, slots=True)
class Injected:
    """A request with its credential, and what cleans its answer."""

    head: RequestHead
    response: ResponseScrubber
    _resigning: Resigning | None = None

    @property
    def needs_body(self) -> bool:
        """Whether the whole body, of MAX_SIGNED_BODY at most, is needed for the head."""
        return self._resigning is not None

    def with_body(self, body: bytes) -> Injected:
        """Return the request as it is sent with this body."""
        if self._resigning is None:
            return self
        return replace(self, head=self._resigning.finished(body), _resigning=None)


class Injector:
    """One session's injection."""

    def __init__(self, book: Placeholders, *, clock: Callable[[], float] = time.time) -> None:
        """Take secrets and their placeholders from ``book``."""
        self._book = book
        self._clock = clock
        self._cookies = SeenCookies()
        self._echoes = Echoes({})
        self._told: set[str] = set()

    def cleans(self) -> bool:
        """Say whether the session has secrets: then every answer is cleaned, whoever gives it.

        A host that was sent one may have passed it on.
        """
        return bool(self._known_echoes().placeholders)

    def was_told(self, host: str) -> bool:
        """Say whether a host was sent a secret: then it gives no answer in pieces."""
        return host in self._told or len(self._told) >= _MOST_HOSTS

    def refuse_misplaced(self, head: RequestHead) -> None:
        """Raise InjectionRefused where a request without a credential's rule carries a placeholder.

        The server could do nothing with it, and its own answer would not say why.
        """
        texts = [value.decode("latin-1") for _, value in head.headers]
        pairs = [":".join(pair) for pair in map(basic_pair, head.values(_AUTHORIZATION)) if pair]
        for text in (unquote_plus(head.target), *texts, *pairs):
            reference = self._book.secret_in(text)
            if reference is not None:
                raise InjectionRefused(
                    f"the request carries the placeholder of the secret {reference}, and no rule "
                    "puts that secret into requests to this host, port and path over https"
                )

    def inject(
        self, head: RequestHead, terms: Sequence[InjectionTerms], *, host: str, verified: bool
    ) -> Injected:
        """Return the request as it goes out to ``host``. InjectionRefused.

        ``verified``: it goes over TLS to a server that proved its name. ``head`` is what would be
        sent without a credential; nothing of it is changed after this. Without ``terms`` nothing is
        put in or refused, but the answer is cleaned of the session's secrets.
        """
        head = head.without(["accept-encoding", "sec-websocket-extensions"])
        head = head.with_header("Accept-Encoding", "identity")
        if not terms:
            return self._plain(head, host)
        if not verified:
            raise InjectionRefused("a credential goes over verified TLS only")
        cookie = self._cookies.unknown(host, head.values("cookie"))
        if cookie is not None:
            raise _foreign(f"cookie {cookie!r}, which {host} did not set in this session")
        _require_places(terms)
        found = [(one, self._book.credential(one.secret)) for one in terms if one.form != "sigv4"]
        signing = [one for one in terms if one.form == "sigv4"]
        _refuse_foreign(head, terms, frozenset(own.placeholder for _, own in found))
        pair = next(filter(None, map(basic_pair, head.values(_AUTHORIZATION))), ("", ""))
        head = head.without(_credentials_of(head) - (SIGNED_IN if signing else frozenset()))
        for one, own in found:
            head = _with_credential(head, one, own, user=pair[0])
        self._refuse_left_over(head)
        placeholders = {own.value: own.placeholder for _, own in found}
        if found:
            # A signing key is not sent, so a store's clients may go on to fetch in pieces.
            self._told.add(host)
        if not signing:
            return Injected(head.without_ranges(), self._response(host, placeholders))
        return self._signed(head, signing[0], placeholders, host)

    def _plain(self, head: RequestHead, host: str) -> Injected:
        if self.was_told(host):
            head = head.without_ranges()
        return Injected(head, self._response(host, {}))

    def _refuse_left_over(self, head: RequestHead) -> None:
        """Refuse a placeholder that no rule replaces, beside the credential that one puts in.

        Cookies are the server's own words: it set them with the secret, and they came clean.
        """
        head = replace(head, target="?" + head.target.partition("?")[2])
        self.refuse_misplaced(head.without(SIGNED_IN | {"cookie"}))

    def _signed(
        self, head: RequestHead, one: InjectionTerms, placeholders: dict[str, str], host: str
    ) -> Injected:
        if self.was_told(host):
            head = head.without_ranges()
        keys = self._book.aws(one.secret)
        plan = plan_resigning(head, keys, one.name, clock=self._clock)
        placeholders |= {keys.real.key: keys.box.key, keys.real.id: keys.box.id}
        if keys.real.token:
            placeholders[keys.real.token] = keys.box.key
        response = self._response(host, placeholders)
        if plan.content is None:
            return Injected(head, response, plan)
        return Injected(plan.finished(), response)

    def _response(self, host: str, placeholders: Mapping[str, str]) -> ResponseScrubber:
        """Return what cleans an answer of all that the session ever knew."""
        echoes = self._known_echoes(placeholders)
        return ResponseScrubber(echoes, host, self._cookies, whole=self.was_told(host))

    def _known_echoes(self, placeholders: Mapping[str, str] = MappingProxyType({})) -> Echoes:
        before = self._echoes.placeholders
        wanted = {**before, **self._book.stand_ins(), **placeholders}
        if wanted != before:
            self._echoes = Echoes(wanted)
        return self._echoes


def _require_places(terms: Sequence[InjectionTerms]) -> None:
    """Refuse two credentials for one place: which one counts is for the policy to say."""
    places = [
        (_AUTHORIZATION if one.form in {"basic", "sigv4"} else one.name, one.form == "query")
        for one in terms
    ]
    if len({(name.lower(), query) for name, query in places}) < len(places):
        rules = ", ".join(one.rule for one in terms)
        raise InjectionRefused(f"several rules send a credential in the same place: {rules}")


def _refuse_foreign(
    head: RequestHead, terms: Sequence[InjectionTerms], own: frozenset[str]
) -> None:
    if any(one.form == "sigv4" for one in terms):
        # Whose signature it is, and for what, is found out where it is made anew.
        head = head.without(SIGNED_IN)
    for one in terms:
        header = foreign_header(head, own, one.name if one.form == "header" else _AUTHORIZATION)
        if header is not None:
            raise _foreign(f"header {header}")
        parameter = foreign_parameter(head.target, own, one.name if one.form == "query" else "")
        if parameter is not None:
            raise _foreign(f"parameter {parameter} of the query")


def _credentials_of(head: RequestHead) -> frozenset[str]:
    names = (name.decode("latin-1").lower() for name, _ in head.headers)
    return frozenset(name for name in names if is_credential_header(name))


def _foreign(where: str) -> InjectionRefused:
    return InjectionRefused(
        f"the request brings a credential that is not this session's ({where}); send none, or the "
        "placeholder that the box's variables hold"
    )


def _with_credential(
    head: RequestHead, one: InjectionTerms, own: Credential, *, user: str
) -> RequestHead:
    """``user``: whom the client would have logged in as, where the rule leaves that to it."""
    value = one.format.replace(_SECRET, own.value)
    if one.form == "header":
        return head.with_header(one.name, value)
    if one.form == "query":
        return replace(head, target=_with_parameter(head.target, one.name, value))
    if _SECRET in one.name:
        return head.with_header(_AUTHORIZATION, basic_value(one.name.replace(_SECRET, value), ""))
    kept = one.name or ("" if user == own.placeholder else user)
    return head.with_header(_AUTHORIZATION, basic_value(kept, value))


def _with_parameter(target: str, name: str, value: str) -> str:
    """Return the target with this parameter once, at its end, and else byte for byte as it was."""
    path, _, query = target.partition("?")
    parts = re.findall("[&;]?[^&;]*", query)
    kept = "".join(
        part for part in parts if unquote_plus(part.lstrip("&;").partition("=")[0]) != name
    )
    own = f"{quote(name, safe='')}={quote(value, safe='')}"
    before = kept if kept[:1] not in {"&", ";"} or query[:1] in {"&", ";"} else kept[1:]
    return f"{path}?{before}&{own}" if before else f"{path}?{own}"
