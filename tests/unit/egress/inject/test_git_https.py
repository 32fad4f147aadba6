"""git itself, through the real proxy, to a real git server whose password the client never has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.egress.inject.head import basic_value
from tests.support.git_server import GitServer, git_server
from tests.support.inspected import Inspected
from tests.support.repositories import git

HOST = "git.example.com"
PASSWORD = "forge-password-0123456789"
INJECT = "inject: {secret: forge, basic: bot, variables: FORGE_TOKEN}"
FETCH = f"    - {{id: fetch, hosts: {HOST}, git: read, paths: /acme/**, effect: allow, {INJECT}}}\n"
PUSH = f"    - {{id: push, hosts: {HOST}, git: write, paths: /acme/**, effect: ask, {INJECT}}}\n"


@dataclass
class World:
    """A server with one repository, and what a program in the box would run git with."""

    server: GitServer
    proxy: Inspected

    def git(self, *arguments: str, url: str = f"https://{HOST}") -> tuple[int, str]:
        """Run git in the home, by way of the proxy; return its code and what it said."""
        env = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "Agent",
            "GIT_AUTHOR_EMAIL": "agent@box.example",
            "GIT_COMMITTER_NAME": "Agent",
            "GIT_COMMITTER_EMAIL": "agent@box.example",
            "GIT_TRACE_REDACT": "0",
            "GIT_TRACE_CURL": "1",
        }
        words = [word.replace("URL", url) for word in arguments]
        said = self.proxy.run(self.server.port, "git", *words, env=env)
        return said.code, said.err

    def effects(self) -> set[str]:
        """The answers to all requests."""
        return {one.verdict.decision.effect for one in self.proxy.gate.admitted}


@contextmanager
def world(folder: Path, rules: str = FETCH + PUSH) -> Iterator[World]:
    source = folder / "source"
    source.mkdir()
    git(source, "init", "-q", "-b", "main")
    (source / "app.py").write_text("print('hello')\n")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "Begin")
    bare = folder / "served" / "acme" / "app.git"
    git(source, "clone", "-q", "--bare", str(source), str(bare))
    git(bare, "config", "http.receivepack", "true")
    proxy = Inspected(folder, HOST, rules, forge=PASSWORD)
    served = folder / "served"
    with git_server(served, proxy.server_context(), user="bot", password=PASSWORD) as server:
        yield World(server, proxy)


def test_clone_and_fetch_need_no_credential_in_the_box(tmp_path):
    """The server wants a password at once, and gets it without git ever being asked for one."""
    with world(tmp_path) as made:
        code, said = made.git("clone", "-q", "URL/acme/app.git", "app")
        assert code == 0, said
        assert (made.proxy.home / "app" / "app.py").read_text() == "print('hello')\n"
        code, said = made.git("-C", "app", "fetch", "-q")

    assert code == 0, said
    assert made.server.refused == 0
    assert made.effects() == {"allow"}
    assert made.server.asked[0] == ("GET", "/acme/app.git/info/refs?service=git-upload-pack")


def test_placeholder_as_a_credential_of_git_works(tmp_path):
    """A tool that writes the token into the address is content, and the server gets the real one."""
    with world(tmp_path) as made:
        token = made.proxy.book.credential("forge").placeholder
        code, said = made.git(
            "clone", "-q", "URL/acme/app.git", "app", url=f"https://x-access-token:{token}@{HOST}"
        )

    assert code == 0, said


def test_password_of_ones_own_is_refused(tmp_path):
    """git with another account gets the reason, and the server gets nothing."""
    with world(tmp_path) as made:
        code, said = made.git(
            *("-c", f"http.extraHeader=Authorization: {basic_value('me', 'foreign')}"),
            *("clone", "-q", "URL/acme/app.git", "app"),
        )

    assert code != 0
    assert "403" in said
    assert "not this session's" in said
    assert made.server.asked == []


def commit_something(made: World) -> None:
    made.git("clone", "-q", "URL/acme/app.git", "app")
    (made.proxy.home / "app" / "new.py").write_text("x = 1\n" * 40_000)
    made.git("-C", "app", "add", ".")
    made.git("-C", "app", "commit", "-q", "-m", "Add")


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_push_is_asked_about(tmp_path, answer):
    """Once, by its POST; what it begins with reads no more than a fetch."""
    with world(tmp_path) as made:
        commit_something(made)
        made.proxy.answer(answer)
        before = len(made.proxy.gate.admitted)
        code, said = made.git("-C", "app", "push", "-q", "origin", "HEAD:topic")
        admitted = made.proxy.gate.admitted[before:]
        heads = git(tmp_path / "served" / "acme" / "app.git", "branch", "--list", "topic")

    assert (code == 0) is (answer == "allow"), said
    assert bool(heads.strip()) is (answer == "allow")
    pushes = [one for one in admitted if one.request.target.endswith("/git-receive-pack")]
    assert {one.verdict.decision.effect for one in pushes} == {answer}
    assert {one.verdict.decision.rule for one in pushes} == {"push"}
    assert ("POST", "/acme/app.git/git-receive-pack") in made.server.asked or answer == "deny"


def test_push_is_refused_at_once_where_none_may_be(tmp_path):
    """git learns it before it packs anything, with the rule's name."""
    with world(tmp_path, FETCH) as made:
        commit_something(made)
        code, said = made.git("-C", "app", "push", "-q", "origin", "HEAD:topic")

    assert code != 0
    assert "x-glovebox-rule" in said
    assert all("receive-pack" not in target for _, target in made.server.asked)


def test_other_repository_is_refused(tmp_path):
    """The paths of the rule hold for git too."""
    with world(tmp_path) as made:
        code, _ = made.git("clone", "-q", "URL/other/app.git", "app")

    assert code != 0
    assert made.server.asked == []
