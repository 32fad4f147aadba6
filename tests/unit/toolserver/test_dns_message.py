import struct

import pytest
from dns_message import (
    AAAA,
    FORMERR,
    MOST_MESSAGE,
    NOERROR,
    NOTIMP,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    A,
    answer,
    parse,
)
from hypothesis import given
from hypothesis import strategies as st


def asked(name, kind=A, *, flags=0x0100, family=1, questions=1, more=b""):
    labels = b"".join(bytes([len(part)]) + part for part in name) + b"\0"
    head = struct.pack("!HHHHHH", 7, flags, questions, 0, 0, 0)
    return head + labels + struct.pack("!HH", kind, family) + more


def test_question_is_read():
    """In lower case; what follows the question, such as EDNS, is passed over."""
    found = parse(asked([b"WWW", b"a_b-c", b"Example"], AAAA, more=b"\0\0\x29\x10\0\0\0\0\0\0\0"))

    assert (found.name, found.kind, found.error) == ("www.a_b-c.example", AAAA, NOERROR)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (asked([b"a"], flags=0x2800), NOTIMP),
        (asked([b"a"], questions=0), FORMERR),
        (asked([b"a"], questions=2), FORMERR),
        (asked([b"a"])[:-1], FORMERR),
        (asked([b"a"])[:14], FORMERR),
        (asked([b"a"], more=bytes(MOST_MESSAGE)), FORMERR),
        # A name that points to itself.
        (struct.pack("!HHHHHH", 7, 0, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1", FORMERR),
        (asked([b"a"], family=3), REFUSED),
        (asked([]), NXDOMAIN),
        (asked([b"a.b"]), NXDOMAIN),
        (asked([b"a b"]), NXDOMAIN),
        (asked([b"a\0b"]), NXDOMAIN),
        (asked(["ü".encode()]), NXDOMAIN),
        (asked([b"a" * 63] * 4), NXDOMAIN),
    ],
)
def test_what_is_no_plain_question_is_an_error(message, error):
    """And the answer says which, to whoever asked."""
    found = parse(message)

    assert found.error == error
    said = answer(found, found.error)
    assert said[:2] == message[:2]
    assert said[3] & 0xF == error


@pytest.mark.parametrize("message", [b"", b"\0" * 11, asked([b"a"], flags=0x8000)])
def test_what_is_no_question_is_not_answered(message):
    """Two servers could go on answering each other for ever."""
    assert parse(message) is None


def test_answer_repeats_the_question_and_gives_the_address():
    """In the question's own spelling, which some clients compare."""
    message = asked([b"wWw", b"example"])
    said = answer(parse(message), address="127.64.0.1")

    assert struct.unpack_from("!HHHHHH", said) == (7, 0x8180, 1, 1, 0, 0)
    assert said[12:].startswith(b"\3wWw\7example\0")
    assert said.endswith(bytes([0, 4, 127, 64, 0, 1]))


@pytest.mark.parametrize("error", [NOERROR, NXDOMAIN, SERVFAIL])
def test_answer_without_an_address_has_none(error):
    """Nothing of that kind, or nothing at all."""
    said = answer(parse(asked([b"a"])), error)

    assert struct.unpack_from("!HHHHHH", said)[1:] == (0x8180 | error, 1, 0, 0, 0)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data):
    """Nothing else comes of them, and a name is never more than its letters."""
    for message in (data, struct.pack("!HHHHHH", 1, 0, 1, 0, 0, 0) + data):
        found = parse(message)
        if found is not None and found.error == NOERROR:
            assert set(found.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.")
            assert 0 < len(found.name) <= 253
            assert answer(found, address="127.64.0.1")
