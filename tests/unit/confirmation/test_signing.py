"""Signed messages: what was changed, is old, or is of another kind is refused."""

import hashlib
import hmac

import pytest

from orchestrator.confirmation.signing import NONCE, SIGNATURE, TIMESTAMP, WINDOW_S, check, sign
from orchestrator.credentials.secret import Secret

SECRET = Secret("shared-secret")
NOW = 1_767_268_800
SAID = "0123456789abcdef"


def signed(kind="answer", body=b"{}", **changes):
    return sign(SECRET, kind, body, timestamp=NOW, nonce=SAID) | changes


def test_genuine_message_is_taken():
    """Its nonce tells it from every other."""
    assert check(SECRET, "answer", b"{}", headers=signed(), now=NOW) == SAID


def test_signature_is_what_the_page_says():
    """A receiver in another language computes the same."""
    text = f"glovebox-v1\nquestion\n{NOW}\n{SAID}\n".encode() + b"{}"
    wanted = "v1=" + hmac.new(b"shared-secret", text, hashlib.sha256).hexdigest()

    assert signed("question")[SIGNATURE] == wanted


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "not signed"),
        (signed(**{NONCE: "short"}), "not signed"),
        (signed(**{TIMESTAMP: "soon"}), "not signed"),
        (signed(**{SIGNATURE: ""}), "signature is wrong"),
        (signed(**{SIGNATURE: "v1=é"}), "signature is wrong"),
        (signed(**{TIMESTAMP: str(NOW + 1)}), "signature is wrong"),
        (signed(**{NONCE: "f" * 16}), "signature is wrong"),
        (signed(body=b"{} "), "signature is wrong"),
        (signed("question"), "signature is wrong"),
        (sign(Secret("x"), "answer", b"{}", timestamp=NOW, nonce=SAID), "signature is wrong"),
    ],
)
def test_message_that_is_not_genuine_is_refused(headers, why):
    """Not signed, changed, or a question sent back."""
    with pytest.raises(ValueError, match=why):
        check(SECRET, "answer", b"{}", headers=headers, now=NOW)


@pytest.mark.parametrize("seconds", [WINDOW_S + 1, -WINDOW_S - 1])
def test_message_out_of_its_time_is_refused(seconds):
    """Old, or from a clock that is ahead."""
    with pytest.raises(ValueError, match="old"):
        check(SECRET, "answer", b"{}", headers=signed(), now=NOW + seconds)
    assert check(SECRET, "answer", b"{}", headers=signed(), now=NOW + WINDOW_S)
