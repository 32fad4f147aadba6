"""Votes on file requests."""

import pytest

from orchestrator.policy.ballot import count
from orchestrator.policy.judge_file import file_votes
from orchestrator.policy.layer import BoxPaths
from orchestrator.schema.request import (
    EditRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    WriteRequest,
)

OPEN = "files: {read: {default: allow}, write: {default: allow}}\n"
TEXT = OPEN + "workspace: {protected: ['**/.git/**'], hidden: ['**/.env']}\n"


@pytest.fixture
def judge(layer):
    """Counts the votes on a request."""

    def decide(request, text=TEXT, roots=(), **others):
        layers = (layer(text), *(layer(other, name) for name, other in others.items()))
        return count(list(file_votes(layers, request, box=BoxPaths(), read_roots=roots)))

    return decide


def _read(path, resolved=...):
    return ReadRequest(path, resolved=path if resolved is ... else resolved)


def _write(path, resolved=...):
    return WriteRequest(path, "x", resolved=path if resolved is ... else resolved)


def test_a_path_that_was_not_resolved_is_refused(judge):
    """What lands nowhere known is not judged by its name."""
    decision = judge(_read("/workspace/a", None))

    assert (decision.effect, decision.rule, decision.layer) == ("deny", "unresolved", "floor")


@pytest.mark.parametrize(
    ("asked", "lands"),
    [
        ("/workspace/link", "/etc/passwd"),
        ("/etc/passwd", "/etc/passwd"),
        ("/workspace/../etc/passwd", "/workspace/x"),
        ("/workspacex/a", "/workspacex/a"),
        ("/proc/self/environ", "/proc/self/environ"),
        ("/workspace/p", "/proc/1/mem"),
        ("/dev/zero", "/dev/zero"),
        ("a.txt", "a.txt"),
        ("/workspace/a\x00.png", "/workspace/a"),
        ("/workspace/" + "a" * 5000, "/workspace/a"),
    ],
)
def test_paths_outside_are_refused_by_name_and_by_landing(judge, asked, lands):
    """Neither a link nor dots nor a look-alike prefix leaves the box's own places."""
    for request in (_read(asked, lands), _write(asked, lands)):
        decision = judge(request)

        assert (decision.effect, decision.rule, decision.layer) == ("deny", "outside", "floor")


@pytest.mark.parametrize("path", ["/workspace/a", "/workspace", "/tmp/x", "/home/agent/y"])
def test_the_box_s_own_places_are_open_to_policy(judge, path):
    """Workspace, scratch and home are judged by rules."""
    assert judge(_read(path)).effect == "allow"
    assert judge(_write(path)).effect == "allow"


def test_read_roots_open_for_reading_and_never_for_writing(judge):
    """A listed directory is a library, not a workspace; kernel views stay shut."""
    roots = ("/usr/share", "/proc")

    assert judge(_read("/usr/share/doc/x"), roots=roots).effect == "allow"
    assert judge(_write("/usr/share/doc/x"), roots=roots).rule == "outside"
    assert judge(_read("/proc/cpuinfo"), roots=roots).rule == "outside"


@pytest.mark.parametrize("path", ["/workspace/.env", "/workspace/a/b/.ENV"])
def test_hidden_paths_can_be_neither_read_nor_written(judge, path):
    """A hidden file is not there, for any kind of request."""
    requests = (
        *(_read(path), _write(path), EditRequest(path, (), resolved=path)),
        *(GrepRequest("x", path, resolved=path), ListRequest(path, resolved=path)),
        FindRequest("x", path, resolved=path),
    )

    for request in requests:
        assert (judge(request).effect, judge(request).rule) == ("deny", "hidden")
    assert judge(_read("/workspace/link", path)).rule == "hidden"


def test_protected_writes_ask_a_person_and_reads_do_not(judge):
    """Also through a link, in any case, and for files that do not exist yet."""
    for asked, lands in (
        ("/workspace/.git/config", "/workspace/.git/config"),
        ("/workspace/.GIT/hooks/new", "/workspace/.GIT/hooks/new"),
        ("/workspace/sub/link", "/workspace/sub/.git/config"),
    ):
        decision = judge(_write(asked, lands))
        assert (decision.effect, decision.rule, decision.unyielding) == ("ask", "protected", True)
        assert judge(_read(asked, lands)).effect == "allow"
    assert judge(_write("/workspace/.gitignore")).effect == "allow"


def test_rules_vote_before_the_default_and_the_strictest_wins(judge):
    """A file rule is judged on name and landing; an ask asks each time anew."""
    text = (
        "files: {read: {default: deny, rules: [{id: docs, paths: 'docs/**', effect: allow}]},"
        " write: {default: allow, rules: [{id: m, paths: ['db/**'], effect: ask, reason: why},"
        " {id: n, paths: ['db/prod/**'], effect: deny, hint: no}]}}"
    )

    assert judge(_read("/workspace/docs/a"), text).rule == "docs"
    assert judge(_read("/workspace/docs/a", "/workspace/src/a"), text).rule == "default:read"
    ask = judge(_write("/workspace/DB/x"), text)
    assert (ask.effect, ask.rule, ask.reason, ask.always) == ("ask", "m", "why", True)
    deny = judge(_write("/workspace/db/prod/x"), text)
    assert (deny.effect, deny.rule, deny.hint) == ("deny", "n", "no")


def test_allow_rules_are_exact_about_case(judge):
    """An allow is for the name it gives."""
    text = "files: {read: {default: deny, rules: [{id: docs, paths: 'docs/**', effect: allow}]}}"

    assert judge(_read("/workspace/DOCS/a"), text).effect == "deny"


def test_nobody_voting_on_a_path_means_no(judge):
    """A policy without a files section opens no file."""
    decision = judge(_read("/workspace/a"), "commands: {default: allow}")

    assert (decision.effect, decision.rule) == ("deny", "unmatched")
    assert judge(_read("/workspace/a"), "files: {read: {default: delegate}}").rule == "unmatched"


def test_a_layer_s_hidden_and_protected_paths_hold_for_all(judge):
    """Each layer adds to what is shut."""
    user = "workspace: {hidden: [private/**], protected: [ci.yml]}"

    assert judge(_read("/workspace/private/x"), user=user).layer == "user"
    assert judge(_write("/workspace/ci.yml"), user=user).rule == "protected"
    assert judge(_read("/workspace/.env"), user=user).rule == "hidden"
