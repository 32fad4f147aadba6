"""A project's own templates: trusted, nearest first, no link followed."""

import os

import pytest

from orchestrator.errors import PromptError
from orchestrator.harness.project_texts import read_library
from orchestrator.harness.trust import TrustStore


def give_templates(root, **texts):
    folder = root / ".glovebox/prompts/templates"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def test_a_projects_templates_wait_for_somebody_who_vouches(project, paths):
    """Shipped and own ones are there before."""
    give_templates(project, deploy="Deploy it.")
    before = read_library(project, paths)
    TrustStore(paths).vouch(project, yes=True, by="test")
    after = read_library(project, paths)

    assert "deploy" not in before.names()
    assert "plan" in before.names()
    assert "glovebox trust --vouch" in before.notes[0]
    assert after.render("deploy", {}) == "Deploy it."
    assert after.notes == ()


def test_the_nearest_project_holds_and_each_root_needs_its_own_trust(project, paths):
    """Who vouches for a folder has not vouched for what is above it."""
    (project / ".git").mkdir()
    inner = project / "app"
    give_templates(project, a="outer", b="outer")
    give_templates(inner, a="inner")
    trust = TrustStore(paths)
    trust.vouch(inner, yes=True, by="test")
    assert "b" not in read_library(inner, paths).names()

    trust.vouch(project, yes=True, by="test")
    both = read_library(inner, paths)
    assert (both.render("a", {}), both.render("b", {})) == ("inner", "outer")


def test_what_a_project_cannot_give_is_left_out_and_told(project, paths):
    """Links, pipes and floods stop nothing."""
    folder = give_templates(project, ok="fine", large="x" * 70_000)
    (folder / "linked.md").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe.md")
    (folder / "latin.md").write_bytes(b"a\n\xe9\n")
    TrustStore(paths).vouch(project, yes=True, by="test")
    library = read_library(project, paths)

    assert library.render("ok", {}) == "fine"
    assert not {"linked", "pipe", "large"} & set(library.names())
    assert set(library.faults) == {"linked", "pipe", "large", "latin"}
    assert "latin.md:2: expected UTF-8 text; left out" in library.faults["latin"]


def test_a_users_template_stands_before_a_projects(project, paths):
    """And one of theirs that cannot be read costs itself."""
    give_templates(project, plan="theirs")
    TrustStore(paths).vouch(project, yes=True, by="test")
    mine = paths.config / "prompts/templates"
    mine.mkdir(parents=True)
    (mine / "plan.md").write_text("mine")

    assert read_library(project, paths).render("plan", {}) == "mine"
    (mine / "bad.md").mkdir()
    library = read_library(project, paths)
    assert library.render("plan", {}) == "mine"
    with pytest.raises(PromptError, match=r"bad\.md: cannot be read"):
        library.get("bad")
