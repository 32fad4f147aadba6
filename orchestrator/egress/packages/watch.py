"""Looks at what package clients fetch: reads index pages, and takes the digest of each artefact.

Nothing that passes is changed or held back, but the very end of an index page: until it has been
read, since the client's next request may be for what it announced.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote, urljoin

from anyio import to_thread

from orchestrator.egress.packages.artefacts import Digesting
from orchestrator.egress.packages.client import Client, Page
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.egress.packages.hosts import Known, PackageHosts
from orchestrator.egress.packages.page_body import PageBody, readable_encodings
from orchestrator.egress.packages.places import lies_below
from orchestrator.egress.seams import Admission, Headers, Onlooker
from orchestrator.schema.artefact import Artefact
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.packages import READING

OnArtefact = Callable[[Admission, Artefact], None]
OnTrouble = Callable[[str], None]
"""Called with what a person should know, raw."""

MOST_HOPS = 4
"""Redirections that are followed from a place to where a file really lies."""
_SMALL = 64 * 1024
"""Bytes of a page that is read without a thread of its own."""
_MOVED = frozenset({301, 302, 303, 307, 308})


class PackageWatch:
    """The ``ExchangeWatch`` of a session with package hosts."""

    def __init__(self, hosts: PackageHosts, on_artefact: OnArtefact, on_trouble: OnTrouble) -> None:
        """Tell ``on_artefact`` of each artefact when it passed."""
        self.hosts = hosts
        self.on_artefact = on_artefact
        self.on_trouble = on_trouble
        self._beside: set[tuple[str, str, int]] = set()
        """Servers whose indexes name no files of other servers."""

    def watch(self, admission: Admission) -> Onlooker | None:
        """Return who looks at it: an index's page, or a package's file; None for anything else."""
        request = admission.request
        if request.method not in READING:
            return None
        known = self.hosts.known(request)
        place = self.hosts.place(request)
        # A page that another page of its own server led to is a page still.
        if place is not None and (known is None or known.named is None):
            client = CLIENTS[place.ecosystem]
            named = client.artefact(unquote(request.path))
            if named is None:
                if not lies_below(request.path, place.pages):
                    return None
                return PageExchange(self, admission, client)
            known = Known(place.ecosystem, named)
        if known is None:
            return None
        if known.named is not None and not known.digest:
            known = known._replace(digest=self.hosts.digest(known.ecosystem, known.named))
        return FileExchange(self, admission, known)

    def follow(self, request: EgressRequest, headers: Headers, known: Known) -> None:
        """Admit where a trusted server says that a file is; only what came over TLS counts.

        The box must not have had a say in where: it wrote the query, if nobody announced it.
        """
        target = _header(headers, b"location")
        given = self.hosts.known(request) is not None or "?" not in request.target
        if request.scheme == "https" and given and target and known.hops < MOST_HOPS:
            url = urljoin(_url(request), target).partition("#")[0]
            self.hosts.learn_file(url, known._replace(hops=known.hops + 1))

    def needs_links(self, request: EgressRequest) -> bool:
        """Say whether files of this index may lie on servers that its pages must name first."""
        return (request.scheme, request.host, request.port) not in self._beside

    async def learn(self, request: EgressRequest, client: Client, page: Page) -> None:
        """Read a page and take in what it announces."""
        try:
            if len(page.body) <= _SMALL:
                announced = client.announced(page)
            else:
                announced = await to_thread.run_sync(client.announced, page)
        except Exception as err:  # noqa: BLE001 - a server's page must not end what carries it
            self.on_trouble(
                f"packages: {_url(request)} cannot be read: {str(err) or type(err).__name__}"
            )
            return
        origin = (request.scheme, request.host, request.port)
        if self.hosts.learn(client.ecosystem, announced):
            self._beside.discard(origin)
        elif announced.links:
            self._beside.add(origin)


class PageExchange:
    """One page of an index."""

    def __init__(self, watch: PackageWatch, admission: Admission, client: Client) -> None:
        self._watch = watch
        self._request = admission.request
        self._client = client
        self._body: PageBody | None = None
        self._media = ""

    def request(self, headers: Headers) -> Headers:
        """Ask for the page itself, in a coding that can be read; never for "not modified"."""
        if self._request.scheme != "https" or not self._reads_pages():
            return headers
        kept = tuple((name, readable_encodings(name, value)) for name, value in headers)
        if not self._watch.needs_links(self._request):
            return kept
        return tuple(pair for pair in kept if pair[0].lower() not in _CONDITIONAL)

    def response(self, status: int, headers: Headers) -> None:
        """See whether it is a page to read."""
        if status in _MOVED:
            self._watch.follow(self._request, headers, Known(self._client.ecosystem, None))
        self._media = _header(headers, b"content-type").partition(";")[0].strip().lower()
        trusted = self._request.scheme == "https" and self._request.method == "GET"
        path = unquote(self._request.path)
        if trusted and status == 200 and self._client.is_index(path, self._media):
            self._body = PageBody(_header(headers, b"content-encoding"))

    def data(self, chunk: bytes) -> None:
        """Keep it, decoded."""
        if self._body is not None:
            self._body.add(chunk)

    async def end(self, *, whole: bool) -> None:
        """Read the page."""
        if self._body is None or not whole:
            return
        try:
            decoded = self._body.whole()
        except ValueError as err:
            self._watch.on_trouble(f"packages: {_url(self._request)} cannot be read: {err}")
            return
        page = Page(_url(self._request), self._media, decoded)
        await self._watch.learn(self._request, self._client, page)

    def _reads_pages(self) -> bool:
        return self._client.ecosystem in {"pip", "npm"} or self._request.path.endswith(
            "/config.json"
        )


class FileExchange:
    """One file that a client fetches."""

    def __init__(self, watch: PackageWatch, admission: Admission, known: Known) -> None:
        self._watch = watch
        self._admission = admission
        self._known = known
        self._digesting: Digesting | None = None

    def request(self, headers: Headers) -> Headers:
        """Change nothing: ranges and tags are the client's."""
        return headers

    def response(self, status: int, headers: Headers) -> None:
        """See whether bytes of the file follow."""
        request = self._admission.request
        if status in _MOVED:
            self._watch.follow(request, headers, self._known)
        elif request.method == "GET" and status in {200, 206} and self._known.named is not None:
            self._digesting = Digesting(
                self._known.digest,
                part=status == 206,
                coding=_header(headers, b"content-encoding"),
            )

    def data(self, chunk: bytes) -> None:
        """Take it into the digest."""
        if self._digesting is not None:
            self._digesting.add(chunk)

    async def end(self, *, whole: bool) -> None:
        """Tell of the artefact."""
        if self._digesting is None or self._known.named is None:
            return
        artefact = self._digesting.result(
            self._known.ecosystem, self._known.named, self._admission.request.host, whole=whole
        )
        self._watch.on_artefact(self._admission, artefact)


_CONDITIONAL = {b"if-none-match", b"if-modified-since"}


def _header(headers: Headers, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")


def _url(request: EgressRequest) -> str:
    return f"{request.scheme}://{request.host}:{request.port}{request.target}"
