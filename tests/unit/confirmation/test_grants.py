"""Yeses that stand, with who gave them and until when."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.confirmation.grant import Grant
from orchestrator.confirmation.grants import KEPT_DAYS, Grants
from orchestrator.errors import ConfigError, UsageError
from orchestrator.schema.likeness import Pattern
from tests.support.asking import Clock, no, question, yes


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def grants(tmp_path, clock):
    return Grants(tmp_path / "grants", now=clock)


def test_grant_says_where_it_came_from(grants, clock):
    """Who, when, where from, which question, for what and until when."""
    grant = grants.add(question(), yes("30m", by="terminal", who="ann", via="/dev/pts/3"))

    assert isinstance(grant, Grant)
    assert grants.all() == [grant]
    assert (grant.who, grant.via, grant.by, grant.question) == (
        "ann",
        "/dev/pts/3",
        "terminal",
        question().id,
    )
    assert (grant.given, grant.expires) == (clock(), clock() + timedelta(minutes=30))
    assert (grant.digest, grant.subject) == (question().digest, "git push origin main")
    assert grant.pattern is None


@pytest.mark.parametrize("answer", [yes(), no(), yes("90m")])
def test_nothing_stands_that_was_not_said_or_not_offered(grants, answer):
    """Once is once, and a no is no yes."""
    assert grants.add(question(), answer) is None
    assert grants.all() == []


def test_revoked_grant_stays_listed_for_a_while(grants, clock):
    """With who took it back; it answers nothing."""
    grant = grants.add(question(), yes("project"))
    grants.revoke(grant.id[:6], who="bo")

    assert grants.find(question()) is None
    assert grants.all()[0].status(clock()) == "revoked"
    assert grants.all()[0].revoked.who == "bo"
    clock.passes(days=KEPT_DAYS + 1)
    grants.add(question("git push"), yes("project"))
    assert [one.subject for one in grants.all()] == ["git push"]


@pytest.mark.parametrize("word", ["", "abc", "ffffffffffff"])
def test_unknown_grant_cannot_be_revoked(grants, word):
    """A slip of the finger is told."""
    grants.add(question(), yes("project"))

    with pytest.raises(UsageError, match="there is none"):
        grants.revoke(word, who="ann")


def test_all_of_a_project_can_be_revoked(grants, clock):
    """And no other's."""
    grants.add(question(), yes("project"))
    grants.add(question(project="/other"), yes("project"))

    assert [one.project for one in grants.revoke_all(who="ann", project="/other")] == ["/other"]
    found = {one.project: one.status(clock()) for one in grants.all()}
    assert found == {"/home/ann/shop": "stands", "/other": "revoked"}
    assert len(grants.revoke_all(who="ann")) == 1
    assert grants.revoke_all(who="ann") == []


def test_clock_that_was_set_back_lets_nothing_stand(grants, clock):
    """Else an ended yes could be had again."""
    grants.add(question(), yes("30m"))
    clock.passes(hours=-2)

    assert grants.find(question()) is None


def test_grant_that_cannot_be_read_is_an_error(grants, tmp_path):
    """Never a yes by accident, and never a silent new question."""
    grant = grants.add(question(), yes("project"))
    (tmp_path / "grants" / f"{grant.id}.json").write_text('{"version": 1}')

    with pytest.raises(ConfigError, match="cannot be read as an approval"):
        grants.find(question())


def test_pattern_that_is_not_offered_today_answers_no_other_word(grants):
    """An older yes may have been widened to what runs the word."""
    asked, other = question("npm run build"), question("npm run release")
    pattern = Pattern(("npm", "run", None), "/workspace")
    old = replace(asked, likeness=replace(asked.likeness, pattern=pattern))
    grants.add(old, yes("project", widened=True))

    assert grants.find(asked) is not None
    assert grants.find(other) is None
    grants.add(question("git push origin main"), yes("project", widened=True))
    assert grants.find(question("git push origin side")) is not None
