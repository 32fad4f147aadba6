import gzip

import pytest

from orchestrator.egress.packages import page_body
from orchestrator.egress.packages.page_body import PageBody, readable_encodings


@pytest.mark.parametrize(
    ("coding", "encode"), [("", bytes), ("identity", bytes), ("GZIP", gzip.compress)]
)
def test_a_page_is_read_in_parts(coding, encode):
    """As it is, or compressed."""
    body = PageBody(coding)
    for byte in encode(b"a page" * 100):
        body.add(bytes([byte]))

    assert body.whole() == b"a page" * 100


@pytest.mark.parametrize(
    ("coding", "data", "why"),
    [
        ("br", b"x", "encoded as 'br'"),
        ("gzip", b"not gzip", "broken compression"),
        ("gzip", gzip.compress(b"x" * 1000, mtime=0)[:-9], "ends early"),
        ("", b"x" * (page_body.MOST + 1), "longer than"),
        ("gzip", gzip.compress(b"x" * (page_body.MOST + 1), 1, mtime=0), "longer than"),
    ],
)
def test_a_page_that_cannot_be_read_says_why(coding, data, why):
    """Never a part of it, and never more memory than a page may take."""
    body = PageBody(coding)
    for part in (data[:-1], data[-1:]):
        body.add(part)

    with pytest.raises(ValueError, match=why):
        body.whole()


def test_only_codings_that_can_be_read_are_asked_for():
    """A client that can read more gets what both can."""
    assert readable_encodings(b"Accept-Encoding", b"gzip;q=0.5, br, zstd") == b"gzip;q=0.5"
    assert readable_encodings(b"accept-encoding", b"br") == b"identity"
    assert readable_encodings(b"Accept", b"br") == b"br"
