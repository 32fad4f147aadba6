import io
import tarfile

import pytest

from orchestrator.engine.archives import only_file, still_container, tree_digest
from orchestrator.engine.labels import owner_label
from orchestrator.errors import EngineError
from tests.support.images import archive_of, imported_image

LABELS = {"glovebox.session": "test", "glovebox.owner": owner_label()}


def digest(entries, **options):
    return tree_digest(io.BytesIO(archive_of(entries, **options)))


def test_only_a_plain_file_is_taken():
    """A link, a directory, a huge file and what is no tar give nothing."""
    assert only_file(archive_of({"passwd": b"root"}), 4) == b"root"
    assert only_file(archive_of({"passwd": b"roots"}), 4) is None
    assert only_file(archive_of({"passwd": "/etc/x"}), 4) is None
    assert only_file(archive_of({"passwd": None}), 4) is None
    assert only_file(archive_of({}), 4) is None
    assert only_file(b"no tar at all", 4) is None
    assert only_file(archive_of({"passwd": b"root"})[:514], 4) is None


def test_digest_ignores_order_alone():
    """Two engines may list a directory differently."""
    assert digest({"a": b"1", "b": b"2"}) == digest({"b": b"2", "a": b"1"})


@pytest.mark.parametrize(
    "other", [{"a": b"2"}, {"b": b"1"}, {"a": "1"}, {"a": None}, {"a": b"1", "c": b""}]
)
def test_digest_sees_every_other_difference(other):
    """Content, name, kind, and what was added."""
    assert digest({"a": b"1"}) != digest(other)
    assert digest({"a": b"1"}) != digest({"a": b"1"}, mode=0o700)


def test_digest_leaves_the_archive_at_its_start():
    """It is written into the image after it was measured."""
    archive = io.BytesIO(archive_of({"a": b"1"}))
    tree_digest(archive)

    with tarfile.open(fileobj=archive) as opened:
        assert opened.getnames() == ["a"]


@pytest.mark.docker
def test_file_of_an_image_is_read_through_one_link(engine):
    """/etc/passwd may be a link; a link to nothing is like no file."""
    entries = {
        "etc": None,
        "etc/plain": b"here",
        "etc/link": "plain",
        "etc/nowhere": "/x",
    }
    with (
        imported_image(engine, entries) as image,
        still_container(engine, image, name="glovebox-test-still", labels=LABELS) as still,
    ):
        found = [still.file(f"/etc/{name}", most=10) for name in ("plain", "link", "nowhere", "x")]

    assert found == [b"here", b"here", b"", b""]


@pytest.mark.docker
def test_file_that_is_too_large_is_refused(engine):
    """Reading ends at the limit, however much the image has."""
    with (
        imported_image(engine, {"big": b"x" * 300_000}) as image,
        still_container(engine, image, name="glovebox-test-still", labels=LABELS) as still,
        pytest.raises(EngineError, match="at most 1000 bytes"),
    ):
        still.file("/big", most=1000)
