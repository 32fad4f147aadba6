"""What begins a push."""

import pytest

from orchestrator.policy.git_push import announced_push
from tests.support.egress import request

HOST = "https://git.example.com"


@pytest.mark.parametrize(
    ("target", "push"),
    [
        ("/o/r/info/refs?service=git-receive-pack", "/o/r/git-receive-pack"),
        ("/o/r.git/info/refs?a=b&service=git%2Dreceive%2dpack", "/o/r.git/git-receive-pack"),
        ("/o/r/info%2frefs?service=git-receive-pack", "/o/r/git-receive-pack"),
        ("/info/refs?service=git-receive-pack", "/git-receive-pack"),
    ],
)
def test_its_post_is_named(target, push):
    """However the query and path are spelled."""
    found = announced_push(request(f"GET {HOST}{target}"))

    assert found == request(f"POST {HOST}{push}")


@pytest.mark.parametrize(
    "text",
    [
        f"GET {HOST}/o/r/info/refs?service=git-upload-pack",
        f"GET {HOST}/o/r/info/refs",
        f"GET {HOST}/search?q=git-receive-pack",
        "CONNECT git.example.com:443",
    ],
)
def test_other_requests_begin_none(text):
    """A fetch, a search, a tunnel."""
    assert announced_push(request(text)) is None
