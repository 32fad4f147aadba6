"""Keys that come back."""

import base64
import urllib.parse

import pytest

from orchestrator.egress.endpoint.echo import Echoes, EchoScrub, scrub_text
from orchestrator.redaction.known import KnownValues

KEY = "sk-real/key+4f9a1c77d2e8b6"
ECHOES = Echoes(KnownValues({"anthropic": KEY}), "gbx_p")
FORMS = [
    KEY,
    KEY.encode().hex(),
    base64.b64encode(KEY.encode()).decode(),
    base64.urlsafe_b64encode(b"x" + KEY.encode()).decode(),
    urllib.parse.quote(KEY, safe=""),
    KEY.replace("/", "\\/"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 16, 4096])
def test_key_in_any_form_and_cut_anywhere_becomes_the_placeholder(form, size):
    """A hostile provider sends it byte by byte."""
    raw = f"before é {form}; after".encode()
    scrub = EchoScrub(ECHOES)
    got = b"".join(scrub.feed(raw[at : at + size]) for at in range(0, len(raw), size))
    got += scrub.flush()

    assert form.encode() not in got
    assert b"gbx_p" in got
    assert got.startswith("before é ".encode())
    assert got.endswith(b"; after")


def test_everything_else_passes_byte_for_byte_and_at_once():
    """No text, no encoding and no event is changed or held."""
    raw = bytes(range(256)) + b'data: {"x": 1}\n\n'
    scrub = EchoScrub(ECHOES)

    assert scrub.feed(raw) == raw
    assert scrub.flush() == b""


def test_without_keys_nothing_is_looked_for():
    """A local server has none to repeat."""
    assert EchoScrub(Echoes(KnownValues({}), "p")).feed(b"abc") == b"abc"


def test_header_is_scrubbed_too():
    """Short texts go through the same."""
    assert scrub_text(f"id-{KEY}", ECHOES) == "id-gbx_p"
