import base64
import json

import pytest

from orchestrator.egress.packages.client import Link, Named, Page
from orchestrator.egress.packages.npm import addresses, announced, artefact, is_index


def test_registries_of_scopes_count_too():
    """The settings of all layers, as npm itself puts them together."""
    said = json.dumps(
        {
            "registry": "https://r.example/",
            "@acme:registry": "https://npm.acme.example/x/",
            "metrics-registry": "https://other.example/",
            "cache": "/tmp/x",
        }
    )

    assert addresses(said) == ["https://r.example/", "https://npm.acme.example/x/"]


@pytest.mark.parametrize("said", ["{}", "", '{"registry": 5}', "warn x\n{}"])
def test_settings_without_a_registry_are_an_error(said):
    """Nothing is guessed."""
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        addresses(said)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/left-pad/-/left-pad-1.3.0.tgz", ("left-pad", "1.3.0", "left-pad-1.3.0.tgz")),
        ("/x/@acme/ui/-/ui-2.0.0-rc.1.tgz", ("@acme/ui", "2.0.0-rc.1", "ui-2.0.0-rc.1.tgz")),
        ("/@acme/ui/-/@acme/ui-2.0.0.tgz", ("@acme/ui", "2.0.0", "ui-2.0.0.tgz")),
    ],
)
def test_a_tarball_says_what_it_is(path, named):
    """With its scope."""
    assert artefact(path) == Named(*named)


def test_documents_and_audits_are_no_artefacts():
    """A document is read, an audit's answer is not."""
    assert artefact("/left-pad") is None
    assert is_index("/@acme/ui", "application/vnd.npm.install-v1+json")
    assert not is_index("/-/npm/v1/security/audits", "application/json")


def test_a_document_announces_each_versions_tarball():
    """With the digests of both ages; a broken one is left out."""
    sha512 = base64.b64encode(b"\1\2").decode()
    dist = {"tarball": "https://t.example/p/-/p-1.0.0.tgz", "shasum": "AB"}
    versions = {
        "1.0.0": {
            "name": "p",
            "version": "1.0.0",
            "dist": dist | {"integrity": f"sha512-{sha512}"},
        },
        "2.0.0": {"version": "2.0.0", "dist": {"tarball": "/p2.tgz", "integrity": "sha512-!"}},
        "3.0.0": {"dist": None},
        "4.0.0": 5,
    }
    page = Page(
        "https://r.example/p",
        "application/json",
        json.dumps({"name": "p", "versions": versions}).encode(),
    )

    assert announced(page).links == [
        Link(dist["tarball"], Named("p", "1.0.0", "p-1.0.0.tgz"), ("sha512:0102", "sha1:ab")),
        Link("https://r.example/p2.tgz", Named("p", "2.0.0", "p2.tgz")),
    ]


def test_the_document_of_one_version_announces_its_tarball():
    """npm asks for one version by name sometimes."""
    body = json.dumps(
        {"name": "p", "version": "1.0.0", "dist": {"tarball": "https://t.example/p.tgz"}}
    ).encode()

    assert announced(Page("https://r.example/p/1.0.0", "application/json", body)).links == [
        Link("https://t.example/p.tgz", Named("p", "1.0.0", "p.tgz"))
    ]
