"""What a request would do to a git repository."""

import pytest

from orchestrator.policy.git_requests import begins_push, git_access, may_be_git


@pytest.mark.parametrize(
    ("method", "path", "query", "access"),
    [
        ("GET", "/acme/app.git/info/refs", "service=git-upload-pack", {"read"}),
        ("POST", "/acme/app.git/git-upload-pack", "", {"read"}),
        ("POST", "/acme/app/git-upload-pack", "", {"read"}),
        ("GET", "/acme/app.git/info/refs", "service=git-receive-pack", {"read", "write"}),
        ("POST", "/acme/app.git/git-receive-pack", "", {"write"}),
        ("GET", "/acme/app.git/info/refs", "", set()),
        (
            "GET",
            "/acme/app.git/info/refs",
            "service=git-upload-pack&service=git-receive-pack",
            set(),
        ),
        ("GET", "/acme/app.git/info/refs", "service=git%2dupload-pack", set()),
        ("HEAD", "/acme/app.git/info/refs", "service=git-upload-pack", set()),
        ("GET", "/acme/app.git/git-upload-pack", "", set()),
        ("POST", "/acme/app.git/git-upload-pack", "x=git-receive-pack", set()),
        ("PUT", "/acme/app.git/git-receive-pack", "", set()),
        ("GET", "/acme/app.git/HEAD", "", set()),
        ("GET", "/acme/app.git/objects/info/packs", "", set()),
        ("POST", "/acme/app.git/info/lfs/objects/batch", "", set()),
        ("POST", "/acme/app.git/xgit-upload-pack", "", set()),
    ],
)
def test_access_is_what_a_client_says_in_its_own_words(method, path, query, access):
    """Large files, the old protocol and anything spelled in another way are no smart HTTP."""
    assert git_access(method, path, query) == access


@pytest.mark.parametrize(
    ("path", "query", "read", "write"),
    [
        ("/r.git/info/refs", "service=git-upload-pack", True, False),
        ("/r.git/info/refs", "service=git-receive-pack", False, True),
        ("/r.git/info/refs", "service=git%252Dreceive-pack", False, True),
        ("/r.git/info/refs", "service=GIT-Receive-Pack", False, True),
        ("/r.git/info/refs", "service=git-upload-pack&service=git-receive-pack", True, True),
        ("/r.git/git-receive-pack/", "", False, True),
        ("/r.git/git-receive%2dpack", "", False, True),
        ("/r.git/HEAD", "", False, False),
    ],
)
def test_what_may_mean_it_counts_for_refusals(path, query, read, write):
    """A rule that asks or denies is lenient, as elsewhere."""
    assert may_be_git("read", path, query) is read
    assert may_be_git("write", path, query) is write


def test_begin_of_a_push_is_told_from_a_fetch():
    """Exactly as git sends it."""
    assert begins_push("GET", "/r/info/refs", "service=git-receive-pack")
    assert not begins_push("GET", "/r/info/refs", "service=git-upload-pack")
    assert not begins_push("POST", "/r/info/refs", "service=git-receive-pack")
    assert not begins_push("GET", "/r/info/refs", "service=git%2Dreceive-pack")
    assert not begins_push("GET", "/r/info/refs/", "service=git-receive-pack")
    assert not begins_push(None, "", "")
