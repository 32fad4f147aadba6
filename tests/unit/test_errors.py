"""The tree of errors and its exit codes."""

import re

import pytest

from orchestrator import errors
from orchestrator.errors import GloveboxError, ModelError, UsageError

ALL = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, GloveboxError)
]


def test_tree_in_the_docstring_is_the_tree():
    """Names and exit codes as printed at the top."""
    drawn = dict(re.findall(r"(\w+(?:Error|Unavailable|Busy)) +(\d)", errors.__doc__))

    assert drawn == {found.__name__: str(found.exit_code) for found in ALL}


def test_message_and_hint_are_kept_apart():
    """The hint is printed below."""
    error = UsageError("what is wrong", hint="what to do")

    assert (str(error), error.message, error.hint) == (
        "what is wrong",
        "what is wrong",
        "what to do",
    )
    assert UsageError("x").hint == ""


@pytest.mark.parametrize(
    ("kind", "retryable"),
    [
        ("network", True),
        ("overloaded", True),
        ("rate_limit", True),
        ("server", True),
        ("auth", False),
        ("bad_request", False),
        ("overflow", False),
        ("quota", False),
    ],
)
def test_only_what_may_pass_later_is_retryable(kind, retryable):
    """Asking again with the same request costs money where it cannot help."""
    assert ModelError("x", kind=kind).retryable is retryable


def test_model_error_keeps_what_a_retry_needs():
    """Kind, status and the wait asked for."""
    error = ModelError("x", kind="rate_limit", status=429, retry_after_s=2.5, hint="wait")

    assert (error.kind, error.status, error.retry_after_s) == ("rate_limit", 429, 2.5)
    assert (error.exit_code, error.hint) == (6, "wait")
