import hashlib

import pytest

from orchestrator.egress.packages.artefacts import Digesting
from orchestrator.egress.packages.client import Named
from orchestrator.schema.artefact import artefact_line, artefact_to_wire

NAMED = Named("six", "1.0", "six-1.0.tar.gz")
DATA = b"the file"


def digested(announced="", *, part=False, coding="", whole=True):
    digesting = Digesting(announced, part=part, coding=coding)
    digesting.add(DATA[:3])
    digesting.add(DATA[3:])
    return digesting.result("pip", NAMED, "files.example", whole=whole)


@pytest.mark.parametrize("algorithm", ["sha512", "sha384", "sha256", "sha1", "md5"])
def test_the_bytes_are_held_against_what_was_announced(algorithm):
    """By whatever the index knows; the note always has SHA-256."""
    right = digested(f"{algorithm}:{hashlib.new(algorithm, DATA).hexdigest()}")
    wrong = digested(f"{algorithm}:00")

    assert (right.matches, wrong.matches) == (True, False)
    assert right.sha256 == wrong.sha256 == hashlib.sha256(DATA).hexdigest()
    assert right.size == len(DATA)
    assert "as announced" in artefact_line(right)
    assert f"MISMATCH: the index announced {algorithm}:00" in artefact_line(wrong)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"part": True}, "part"),
        ({"coding": "gzip"}, "coding"),
        ({"whole": False}, "early"),
    ],
)
def test_what_is_not_the_whole_file_is_neither_right_nor_wrong(how, why):
    """And the note says why."""
    found = digested("sha256:00", **how)

    assert found.matches is None
    assert why in found.problem
    assert why in artefact_line(found)


def test_without_an_announcement_nothing_is_compared():
    """The note has the digest all the same."""
    found = digested()

    assert (found.matches, found.problem) == (None, "")
    assert artefact_to_wire(found)["sha256"] == found.sha256
    assert artefact_line(found).startswith("pip six 1.0: six-1.0.tar.gz, 8 bytes, sha256:")
