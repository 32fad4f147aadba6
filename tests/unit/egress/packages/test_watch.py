import gzip
import hashlib
import itertools
import json

import anyio
import pytest

from orchestrator.egress.packages.hosts import PackageHosts
from orchestrator.egress.packages.places import place_of
from orchestrator.egress.packages.watch import PackageWatch
from orchestrator.egress.seams import Admission
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, EgressVerdict

SIMPLE = b"application/vnd.pypi.simple.v1+json"
DATA = b"the wheel"
WHEEL = "https://files.example/p/six-1.0-py3-none-any.whl"


class World:
    """A watch of an index, and what it told."""

    def __init__(self, *bases):
        places = bases or (("pip", "https://index.example/simple"),)
        self.hosts = PackageHosts([place_of(*place) for place in places])
        self.artefacts = []
        self.troubles = []
        self.watch = PackageWatch(
            self.hosts,
            lambda _admission, artefact: self.artefacts.append(artefact),
            self.troubles.append,
        )

    def exchange(self, url, method="GET"):
        scheme, _, rest = url.partition("://")
        host, _, target = rest.partition("/")
        port = {"https": 443, "http": 80}[scheme]
        request = EgressRequest("inspected", scheme, host, port, method, f"/{target}")
        verdict = EgressVerdict(Decision("allow", "packages", "session", "x"))
        return self.watch.watch(Admission(1, request, verdict, 1))

    def pass_through(
        self, url, body=b"", *, status=200, headers=(), asked=(), method="GET", whole=True
    ):
        """One exchange; returns the headers that went on, or None where nobody looked."""
        exchange = self.exchange(url, method)
        if exchange is None:
            return None
        sent = exchange.request(tuple(asked))
        exchange.response(status, tuple(headers))
        for at in range(0, len(body), 1000):
            exchange.data(body[at : at + 1000])
        anyio.run(lambda: exchange.end(whole=whole))
        return sent

    def knows(self, url):
        return self.exchange(url) is not None


def page(url=WHEEL, digest=None, more=()):
    hashes = {"sha256": digest or hashlib.sha256(DATA).hexdigest()}
    files = [{"filename": "six-1.0-py3-none-any.whl", "url": url, "hashes": hashes}, *more]
    return json.dumps({"files": files}).encode()


def fetch_page(world, body=None, **how):
    headers = [(b"Content-Type", SIMPLE + b"; charset=utf-8"), *how.pop("headers", ())]
    return world.pass_through(
        "https://index.example/simple/six/",
        page() if body is None else body,
        headers=headers,
        **how,
    )


@pytest.fixture
def world():
    return World()


def test_a_page_admits_its_files_and_their_digests_are_checked(world):
    """The whole way of one install."""
    assert not world.knows(WHEEL)

    fetch_page(world)
    world.pass_through(WHEEL, DATA)

    (found,) = world.artefacts
    assert (found.name, found.version, found.matches, found.size) == ("six", "1.0", True, len(DATA))
    assert found.sha256 == hashlib.sha256(DATA).hexdigest()
    assert not world.troubles


def test_bytes_that_are_not_the_announced_ones_are_told(world):
    """The client refuses them too; the record says so whatever the client does."""
    fetch_page(world)
    world.pass_through(WHEEL, b"something else")

    assert world.artefacts[0].matches is False


def test_a_compressed_page_is_read_and_a_large_one_too(world):
    """In a thread of its own, before its end passes."""
    more = [{"filename": f"x-{n}.zip", "url": f"/f/x-{n}.zip"} for n in range(3000)]
    fetch_page(world, gzip.compress(page(more=more)), headers=[(b"content-encoding", b"gzip")])

    assert world.knows(WHEEL)


@pytest.mark.parametrize(
    "how",
    [{"status": 304}, {"status": 404}, {"whole": False}, {"method": "HEAD"}],
)
def test_only_a_whole_page_counts(world, how):
    """Nothing is taken from a part of one."""
    fetch_page(world, **how)

    assert not world.knows(WHEEL)


@pytest.mark.parametrize(("body", "headers"), [(b"{", []), (b"x", [(b"content-encoding", b"br")])])
def test_a_page_that_cannot_be_read_is_told(world, body, headers):
    """It passes all the same."""
    fetch_page(world, body, headers=headers)

    assert "cannot be read" in world.troubles[0]


def test_a_page_that_did_not_come_over_tls_admits_nothing():
    """Anybody on the way could have written it."""
    world = World(("pip", "http://index.example/simple"))
    world.pass_through(
        "http://index.example/simple/six/", page(), headers=[(b"content-type", SIMPLE)]
    )

    assert not world.knows(WHEEL)


def test_a_file_is_asked_for_as_the_client_does(world):
    """Ranges and tags are its own; of a page the body is asked for."""
    asked = ((b"If-None-Match", b"x"), (b"Range", b"bytes=0-"), (b"Accept-Encoding", b"br, gzip"))

    assert fetch_page(world, asked=asked) == (
        (b"Range", b"bytes=0-"),
        (b"Accept-Encoding", b"gzip"),
    )
    assert world.pass_through(WHEEL, DATA, asked=asked) == asked


def test_an_index_that_keeps_its_files_beside_it_may_say_not_modified():
    """Its pages are large, and nothing has to be learned from them."""
    world = World(("npm", "https://r.example/"))
    asked = ((b"if-none-match", b"x"),)
    body = json.dumps({"dist": {"tarball": "https://r.example/p/-/p-1.0.0.tgz"}}).encode()
    headers = [(b"content-type", b"application/json")]

    assert world.pass_through("https://r.example/p", body, headers=headers, asked=asked) == ()
    assert world.pass_through("https://r.example/p", body, headers=headers, asked=asked) == asked


def test_a_range_is_a_part(world):
    """Its digest is noted, and not held against the whole's."""
    fetch_page(world)
    world.pass_through(WHEEL, DATA[:3], status=206)

    assert world.artefacts[0].matches is None
    assert "part" in world.artefacts[0].problem


def test_heads_and_failures_are_no_artefacts(world):
    """Nothing of a file passed."""
    fetch_page(world)
    world.pass_through(WHEEL, method="HEAD")
    world.pass_through(WHEEL, b"gone", status=404)

    assert not world.artefacts


def test_a_redirection_admits_where_the_file_is(world):
    """With its name and digest, a few times over, and never without TLS."""
    fetch_page(world)
    urls = [WHEEL, *(f"https://cdn{n}.example/blob?sig={n}" for n in range(6))]
    for here, there in itertools.pairwise(urls):
        world.pass_through(here, status=302, headers=[(b"Location", there.encode())])
    world.pass_through(urls[2], DATA)

    assert world.artefacts[0].matches
    assert world.knows(urls[4])
    assert not world.knows(urls[5])
    assert not world.knows("https://cdn1.example/blob?sig=0")


def test_a_page_that_another_page_leads_to_is_read(world):
    """Indexes spell names in one way."""
    world.pass_through(
        "https://index.example/simple/SIX/", status=301, headers=[(b"location", b"/simple/six/")]
    )
    fetch_page(world)

    assert world.knows(WHEEL)


def test_a_page_beside_the_index_announces_nothing(world):
    """There the server may show what anybody wrote: each link would be a letter to its author."""
    body = f'<a href="{WHEEL}">read me</a>'.encode()
    html = [(b"content-type", b"text/html")]
    world.pass_through("https://index.example/project/evil/", body, headers=html)
    assert not world.knows(WHEEL)

    world.pass_through("https://index.example/simple/six/", body, headers=html)
    assert world.knows(WHEEL)


def test_a_redirection_that_the_box_could_word_admits_nothing(world):
    """A server that redirects to whatever a query says would let anything out."""
    there = [(b"location", b"https://evil.example/?stolen")]
    for asked in ("simple/six/?to=x", "f/six-1.0.zip?to=x", "go?to=x"):
        world.pass_through(f"https://index.example/{asked}", status=302, headers=there)

    assert not world.knows("https://evil.example/?stolen")


def test_a_crates_checksum_is_known_from_the_index():
    """cargo's settings name the place, its files the sums."""
    world = World(("cargo", "https://i.example/"))
    settings = json.dumps({"dl": "https://static.example/crates"}).encode()
    line = json.dumps({"name": "a", "vers": "1.0.0", "cksum": hashlib.sha256(DATA).hexdigest()})
    world.pass_through("https://i.example/config.json", settings)
    world.pass_through("https://i.example/1/a", line.encode())
    world.pass_through("https://static.example/crates/a/1.0.0/download", DATA)

    assert world.artefacts[0].matches


def test_other_requests_are_not_looked_at(world):
    """Nor is anything that writes."""
    assert not world.knows("https://other.example/simple/six/")
    assert world.exchange("https://index.example/simple/six/", "POST") is None
