from dataclasses import replace

from orchestrator.schema.artefact import Artefact, artefact_line, artefact_to_wire

FETCHED = Artefact("npm", "@acme/ui", "1.0", "ui-1.0.tgz", "r.example", size=5, sha256="ab")


def test_a_line_says_what_it_is_and_what_is_wrong_with_it():
    """For a person; a version that is not known is left out."""
    line = "npm @acme/ui 1.0: ui-1.0.tgz, 5 bytes, sha256:ab"

    assert artefact_line(FETCHED) == line
    assert artefact_line(replace(FETCHED, version="")) == line.replace(" 1.0:", ":")
    assert artefact_line(replace(FETCHED, matches=True)) == f"{line}; as announced"
    assert artefact_line(replace(FETCHED, matches=False, announced="sha1:cd")) == (
        f"{line}; MISMATCH: the index announced sha1:cd"
    )
    assert artefact_line(replace(FETCHED, problem="cut")) == f"{line}; cut"


def test_the_record_has_every_field():
    """As JSON data."""
    assert artefact_to_wire(FETCHED) == {
        "ecosystem": "npm",
        "name": "@acme/ui",
        "version": "1.0",
        "file": "ui-1.0.tgz",
        "host": "r.example",
        "size": 5,
        "sha256": "ab",
        "announced": "",
        "matches": None,
        "problem": "",
    }
