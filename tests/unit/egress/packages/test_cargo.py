import json

import pytest

from orchestrator.egress.packages.cargo import addresses, announced, artefact, is_index
from orchestrator.egress.packages.client import Link, Named, Page

ASKED = """
#asked
asked sparse+https://two.example/index/
error: failed to get `anything` as a dependency of package `asks v0.0.0`
  failed to download from `https://index.example/config.json`
"""


def test_the_index_is_the_one_that_cargo_asked_first():
    """It is built in and shown nowhere else; further ones come from settings and variables."""
    settings = (
        '[registries.own]\nindex = "sparse+https://own.example/i/"\n'
        '[source.m]\nregistry = "sparse+https://m.example/"\n'
        '[registries.git]\nindex = "https://git.example/x.git"\n[net]\nretry = 1\n'
    )

    assert addresses(settings + ASKED) == [
        "https://index.example/",
        "https://two.example/index/",
        "https://own.example/i/",
        "https://m.example/",
    ]


@pytest.mark.parametrize("said", ["#asked\n", "= broken\n#asked\n", "source = 5\n#asked"])
def test_a_cargo_without_an_index_is_an_error(said):
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="cargo"):
        addresses(said)


@pytest.mark.parametrize(
    "path",
    ["/crates/serde/1.0.2/download", "/api/v1/crates/serde/1.0.2/download", "/s/serde-1.0.2.crate"],
)
def test_a_crate_says_what_it_is(path):
    """In each form in which registries serve them."""
    assert artefact(path) == Named("serde", "1.0.2", "serde-1.0.2.crate")
    assert not is_index(path, "")


@pytest.mark.parametrize(
    ("template", "base"),
    [
        ("https://static.example/crates", "https://static.example/crates/"),
        ("https://s.example/c/{crate}/{version}/download", "https://s.example/c/"),
        ("https://s.example/x-{crate}.crate", "https://s.example/"),
        ("/api/v1/crates", "https://index.example/api/v1/crates/"),
    ],
)
def test_an_indexs_settings_say_where_its_crates_lie(template, base):
    """Up to the first part that names a crate."""
    page = Page("https://index.example/config.json", "", json.dumps({"dl": template}).encode())

    assert announced(page).bases == [base]


def test_a_crates_file_announces_checksums():
    """One version a line."""
    lines = [{"name": "serde", "vers": "1.0.2", "cksum": "ab"}, {"name": "serde", "vers": "1.0.3"}]
    body = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"

    assert announced(Page("https://index.example/se/rd/serde", "", body)).links == [
        Link("", Named("serde", "1.0.2", "serde-1.0.2.crate"), ("sha256:ab",)),
        Link("", Named("serde", "1.0.3", "serde-1.0.3.crate"), ("sha256:",)),
    ]
