import pytest

from orchestrator.egress.packages import hosts
from orchestrator.egress.packages.client import Announced, Link, Named
from orchestrator.egress.packages.hosts import Known, PackageHosts
from orchestrator.egress.packages.places import place_of
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.packages import ECOSYSTEMS

NAMED = Named("six", "1.0", "six-1.0.tar.gz")
FILE = "https://files.example/p/six-1.0.tar.gz"


def request(url, method="GET", *, door="inspected"):
    scheme, _, rest = url.partition("://")
    server, _, target = rest.partition("/")
    host, _, port = server.partition(":")
    number = int(port) if port else {"https": 443, "http": 80}[scheme]
    return EgressRequest(door, scheme, host, 0 if door == "dns" else number, method, f"/{target}")


def tunnel(url):
    return request(url, None, door="connect")


def known(*bases):
    return PackageHosts([place_of(ecosystem, base) for ecosystem, base in bases])


@pytest.fixture
def pip():
    return known(("pip", "https://index.example/api/"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://index.example/api/simple/six/", "pip"),
        ("https://index.example/api/@acme%2fui", "pip"),
        ("https://index.example/", None),
        ("https://index.example/api/../admin", None),
        ("https://index.example/api/%2e%2e/admin", None),
        ("https://index.example/api/%252e%252e/admin", None),
        ("https://index.example/api/..;x/admin", None),
        ("https://index.example/api/..\\admin", None),
        ("https://index.example:8443/api/x", None),
        ("http://index.example/api/x", None),
        ("https://index.example.evil.example/api/x", None),
    ],
)
def test_a_place_is_a_server_and_what_lies_plainly_below_its_path(pip, url, expected):
    """In every reading that a server may have."""
    assert pip.ecosystem(request(url), ECOSYSTEMS) == expected


def test_tunnels_and_look_ups_are_for_a_server(pip):
    """What is asked inside is judged by itself."""
    assert pip.ecosystem(tunnel("https://index.example/"), ECOSYSTEMS) == "pip"
    assert pip.ecosystem(tunnel("https://index.example:8443/"), ECOSYSTEMS) is None
    assert pip.ecosystem(request("https://index.example/", None, door="dns"), ["pip"]) == "pip"
    assert pip.ecosystem(request("https://other.example/", None, door="dns"), ["pip"]) is None


def test_only_what_is_wanted_is_answered_for(pip):
    """Policy names the clients."""
    assert pip.ecosystem(request("https://index.example/api/x"), ["npm"]) is None
    assert PackageHosts().ecosystem(request("https://index.example/api/x"), ECOSYSTEMS) is None


def test_an_announced_file_is_admitted_by_its_very_address(pip):
    """Not the directory it lies in, nor with another query, and its server for nothing else."""
    assert pip.ecosystem(tunnel(FILE), ECOSYSTEMS) is None

    assert pip.learn("pip", Announced([Link(FILE, NAMED, ("md5:1", "sha256:2"))]))

    assert pip.ecosystem(tunnel(FILE), ECOSYSTEMS) == "pip"
    assert pip.ecosystem(tunnel(FILE), ["npm"]) is None
    assert pip.ecosystem(request(FILE), ["npm"]) is None
    assert pip.ecosystem(request("https://files.example/", None, door="dns"), ["pip"]) == "pip"
    assert pip.ecosystem(request(FILE), ECOSYSTEMS) == "pip"
    assert pip.known(request(FILE)) == Known("pip", NAMED, "sha256:2")
    for other in (f"{FILE}?stolen", "https://files.example/p/", FILE.replace("https", "http")):
        assert pip.ecosystem(request(other), ECOSYSTEMS) is None


@pytest.mark.parametrize(
    ("link", "asked"),
    [
        ("https://f.example/torch-1.0+cpu.whl", "https://f.example/torch-1.0%2Bcpu.whl"),
        ("https://f.example/torch-1.0%2Bcpu.whl", "https://f.example/torch-1.0+cpu.whl"),
        ("https://f.example/a b.zip", "https://f.example/a%20b.zip"),
    ],
)
def test_a_link_is_admitted_as_clients_quote_it(pip, link, asked):
    """And as it was written, but in no other of the many ways to write it."""
    pip.learn("pip", Announced([Link(link, None)]))

    assert pip.ecosystem(request(asked), ECOSYSTEMS) == "pip"
    assert pip.ecosystem(request(asked.replace("f.example/", "f.example/%2E/")), ECOSYSTEMS) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://f.example/x.zip",
        "https://127.0.0.1/x.zip",
        "https://[::1]/x.zip",
        "ssh://f.example/x",
    ],
)
def test_a_page_cannot_name_an_address_or_leave_tls(pip, url):
    """Nor anything that is no web server."""
    assert not pip.learn("pip", Announced([Link(url, NAMED)]))
    assert pip.known(EgressRequest("inspected", "https", "127.0.0.1", 443, "GET", "/x.zip")) is None


def test_files_beside_the_index_lie_nowhere_else():
    """So that its pages need not be read each time."""
    npm = known(("npm", "https://r.example/"))

    assert not npm.learn("npm", Announced([Link("https://r.example/p/-/p-1.tgz", NAMED)]))
    assert npm.learn("npm", Announced([Link("https://cdn.example/p-1.tgz", NAMED)]))


def test_bases_are_places_and_few():
    """An index's own settings say where all of its files lie."""
    cargo = known(("cargo", "https://index.example/"))
    cargo.learn("cargo", Announced(bases=["https://static.example/crates/", "http://no.example/"]))
    cargo.learn("cargo", Announced(bases=[f"https://s.example/{n}/" for n in range(100)]))

    assert (
        cargo.ecosystem(request("https://static.example/crates/a/1/download"), ["cargo"]) == "cargo"
    )
    assert cargo.ecosystem(request("https://static.example/"), ["cargo"]) is None
    assert len(cargo.places) == 1 + hosts.MOST_BASES


def test_a_digest_is_found_by_name_where_the_index_gives_no_address():
    """As a crate's file does."""
    cargo = known(("cargo", "https://index.example/"))
    cargo.learn("cargo", Announced([Link("", NAMED, ("sha256:ab",))]))

    assert cargo.digest("cargo", NAMED) == "sha256:ab"
    assert cargo.digest("pip", NAMED) == ""


def test_memory_is_bounded(pip):
    """The oldest address goes; a new server is refused at the end."""
    links = [Link(f"https://f.example/{n}.zip", None) for n in range(hosts.MOST_FILES + 1)]
    pip.learn("pip", Announced(links))
    pip.learn("pip", Announced([Link(f"https://h{n}.example/x.zip", None) for n in range(300)]))

    assert pip.known(request("https://f.example/0.zip")) is None
    assert pip.known(request(f"https://f.example/{hosts.MOST_FILES}.zip")) is not None
    assert pip.ecosystem(tunnel("https://h1.example/"), ["pip"]) == "pip"
    assert pip.ecosystem(tunnel("https://h299.example/"), ["pip"]) is None
