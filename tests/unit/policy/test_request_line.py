"""What the judge and the proxy take for a method and a target."""

import pytest

from orchestrator.egress.strict import MessageError, check_request_head
from orchestrator.policy.request_line import is_method, is_target


def reads(method, target):
    """Say whether the proxy takes a request line."""
    line = f"{method} {target} HTTP/1.1\r\nHost: a.example.com\r\n\r\n"
    try:
        check_request_head(line.encode("latin-1"))
    except MessageError:
        return False
    return True


@pytest.mark.parametrize(
    ("method", "sound"),
    [("GET", True), ("M-SEARCH", True), ("get", False), ("A-", False), ("", False)],
)
def test_a_method_is_words_in_capitals(method, sound):
    """To both alike."""
    assert is_method(method) == sound == reads(method, "/x")


@pytest.mark.parametrize(
    ("target", "sound"),
    [
        ("/x?y=%20", True),
        ("/a b", False),
        ("/\u00e9", False),
        ("/x\n", False),
        ("/\x7f", False),
        ("", False),
    ],
)
def test_a_target_is_visible_text(target, sound):
    """To both alike."""
    assert is_target(target) == sound == reads("GET", target)
