"""A session's skill is looked at before a box is made for it."""

from dataclasses import replace

import pytest

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.rewinding import JOURNAL
from orchestrator.harness.skills.finding import find_skills
from orchestrator.harness.skills.resuming import activated, check_past
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from orchestrator.skills.discover import Catalogue

TOOLS = ("read", "bash")


@pytest.fixture
def catalogue(tmp_path):
    return find_skills(tmp_path, Paths(tmp_path / "state", tmp_path / "config"), home=tmp_path)


@pytest.fixture
def looked_at(tmp_path, catalogue):
    """Return what looks at a session that had a skill on; ``options`` say how it goes on."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    directory = tmp_path / "project"
    name = SessionId("0123456789ab")
    store = SessionStore.create(
        paths.project_sessions(directory) / f"{name}.jsonl",
        SessionHeader(name, str(directory), "2026-01-02T03:04:05Z"),
    )
    then = activated("review", catalogue, tools=TOOLS)
    facts = {"skill": "review", "digest": then.skill.digest, "rules": then.rules}

    def look(found, *, by="user", **options):
        with store if not store.tree.entries else SessionStore.open(store.path) as opened:
            opened.append("skill_change", {**facts, "by": by, "confidence": 1.0})
        asked = {"prompt": "go on", "directory": directory, "resume_latest": True, **options}
        check_past(RunOptions(model="m", **asked), found, paths, tools=TOOLS)

    look.work = paths.work(name)
    return look


def with_review(catalogue, **changes):
    changed = replace(catalogue.skills["review"], **changes)
    return replace(catalogue, skills={**catalogue.skills, "review": changed})


def test_skill_that_is_gone_or_restricts_otherwise_is_refused(looked_at, catalogue):
    looked_at(catalogue)
    looked_at(with_review(catalogue, digest="sha256:another"))
    with pytest.raises(SkillError, match="it has other rules now than then"):
        looked_at(with_review(catalogue, digest="sha256:another", max_tokens=12345))
    with pytest.raises(SkillError, match="the session had the skill review on") as refused:
        looked_at(Catalogue())
    assert "--skill off" in refused.value.hint


@pytest.mark.parametrize(
    "options",
    [
        {"resume_latest": False},
        {"fork": True},
        {"skill": "off"},
        {"by": "trigger"},
    ],
)
def test_what_the_session_would_not_take_up_is_not_looked_at(looked_at, options):
    looked_at(Catalogue(), **options)


def test_place_that_a_cut_off_rewind_leads_away_from_is_not_judged(looked_at):
    looked_at.work.mkdir(parents=True)
    (looked_at.work / JOURNAL).write_text("{}")

    looked_at(Catalogue())


def test_choice_goes_on_where_nothing_new_is_said(looked_at):
    """And is judged then as a person's word is."""
    with pytest.raises(SkillError):
        looked_at(Catalogue(), by="trigger", prompt=None)
