import base64
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.egress.inject.echoes import Echoes, EchoStream
from orchestrator.redaction.known import KnownValues

SECRET = "sk-live/Zk4+9pQ7vX2mT8wR=="
PLACEHOLDER = "gbx_0123456789abcdefghijAB"
ECHOES = Echoes({SECRET: PLACEHOLDER})
KNOWN = KnownValues({"it": SECRET})

FORMS = {
    "plain": SECRET,
    "hex": SECRET.encode().hex(),
    "HEX": SECRET.encode().hex().upper(),
    "hex with colons": SECRET.encode().hex(":"),
    "lower case": SECRET.lower(),
    "upper case in url": quote(SECRET.upper(), safe=""),
    "url": quote(SECRET, safe=""),
    "url twice": quote(quote(SECRET, safe=""), safe=""),
    "json": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "json unicode": "".join(f"\\u{ord(char):04x}" for char in SECRET),
    "html": SECRET.replace("+", "&#43;"),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64url": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "basic": base64.b64encode(f"user:{SECRET}".encode()).decode(),
    "basic two": base64.b64encode(f"me:{SECRET}:tail".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_replaced_at_its_length(form):
    """Whatever surrounds it stays byte for byte."""
    data = f'{{"a": "x {FORMS[form]} y"}}\n'.encode()
    clean = ECHOES.scrub(data)

    assert len(clean) == len(data)
    assert not list(KNOWN.find(clean.decode()))
    assert clean.startswith(b'{"a": "x ')
    assert clean.endswith(b' y"}\n')
    assert FORMS[form] not in clean.decode()


def test_echo_becomes_the_placeholder():
    """So a client that compares finds what it sent, also in hex."""
    assert ECHOES.scrub(f"<{SECRET}>".encode()) == f"<{PLACEHOLDER}>".encode()
    assert ECHOES.scrub(FORMS["hex"].encode()).decode() == PLACEHOLDER.encode().hex()


def test_two_secrets_keep_their_own_placeholders():
    echoes = Echoes({"first-secret": "gbx_firstone", "other-secret": "gbx_otherone"})

    assert echoes.scrub(b"other-secret first-secret") == b"gbx_otherone gbx_firstone"


def test_bytes_of_any_kind_pass_unchanged():
    """Also those that are no text."""
    data = bytes(range(256)) * 20

    assert ECHOES.scrub(data) == data


@given(
    form=st.sampled_from(sorted(FORMS)),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    before=st.binary(max_size=40),
    after=st.binary(max_size=40),
)
def test_cuts_hide_nothing(form, cuts, before, after):
    """However a body is cut, it is as clean as in one piece, and as long."""
    data = before + b"<" + FORMS[form].encode() + b">" + after
    stream = EchoStream(ECHOES)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [stream.feed(data[start:end]) for start, end in pairwise(edges)]
    clean = b"".join(pieces) + stream.end()

    assert len(clean) == len(data)
    assert not list(KNOWN.find(clean.decode("latin-1")))
    assert clean.startswith(before + b"<")


def test_byte_by_byte_hides_nothing():
    stream = EchoStream(ECHOES)
    data = "".join(f"{form} " for form in FORMS.values()).encode()
    clean = b"".join(stream.feed(bytes([byte])) for byte in data) + stream.end()

    assert len(clean) == len(data)
    assert not list(KNOWN.find(clean.decode()))


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_stream_without_a_secret_is_unchanged(pieces):
    """Nothing is added, lost or moved."""
    stream = EchoStream(ECHOES)

    assert b"".join(stream.feed(piece) for piece in pieces) + stream.end() == b"".join(pieces)


def test_little_is_held_back():
    """A line that could be no secret is passed on at once."""
    stream = EchoStream(ECHOES)

    assert stream.feed(b'data: {"text": "hello"}\n\n') == b'data: {"text": "hello"}\n\n'
    assert stream.feed(b"and sk-li") == b"and "
    assert stream.feed(b"ne\n") == b"sk-line\n"
