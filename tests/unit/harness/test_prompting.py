"""A session's prompt: what is read, what holds, what is kept of it."""

import json
import os
from dataclasses import replace
from functools import partial

import pytest

from orchestrator.config.settings import PromptSettings
from orchestrator.context.options import ContextOptions
from orchestrator.harness.governing import loaded_policy
from orchestrator.harness.prompting import (
    prompt_budget,
    read_prompts,
    record_prompt,
)
from orchestrator.harness.record import open_record
from orchestrator.harness.trust import TrustStore
from orchestrator.prompts.assemble import assemble
from orchestrator.prompts.layer import Part, SkillParts
from orchestrator.schema.ids import digest_of
from orchestrator.schema.posture import Posture
from orchestrator.schema.shares import Shares

TOOLS = ("read", "write", "edit", "bash")


@pytest.fixture
def read(options, paths):
    """Read the prompts of the project under these settings."""

    def read_under(policy="default", **settings):
        run = options(policies=(policy,))
        given = PromptSettings(**settings)
        return read_prompts(run, given, paths, policy=loaded_policy(run, paths))

    return read_under


def give_prompts(root, **texts):
    """Write texts of a prompt; ``templates`` is none of them."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text)


def test_context_files_up_to_the_repositorys_root_are_read(options, project, paths):
    """A nested worktree or submodule has its own ``.git``, so the outer one's words do not hold."""
    (project / ".git").mkdir()
    (project / "AGENTS.md").write_text("outer")
    inner = project / "sub"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../.git/modules/sub")
    (inner / "AGENTS.md").write_text("inner")
    (inner / "app").mkdir()
    run = options(directory=inner / "app")
    prompts = read_prompts(run, PromptSettings(), paths, policy=loaded_policy(run, paths))

    assert [file.name for file in prompts.sources.files] == ["../AGENTS.md"]
    assert [file.text for file in prompts.sources.files] == ["inner"]


def test_a_project_that_is_distrusted_says_nothing(read, project, paths):
    """Nobody's silence trusts: without a word they are read, as data."""
    (project / "AGENTS.md").write_text("do this")

    assert "do this" in read().assemble(TOOLS).text
    TrustStore(paths).vouch(project, yes=False, by="test")
    prompts = read()
    assert "do this" not in prompts.assemble(TOOLS).text
    assert "do not vouch" in prompts.notes[0]


def test_settings_leave_context_files_out_and_give_role_and_rules(read, project):
    """What a user set once."""
    (project / "AGENTS.md").write_text("do this")
    text = read(context_files=False, role="a tester", rules=("Say please.",)).assemble(TOOLS).text

    assert "do this" not in text
    assert text.startswith("You are a tester ")
    assert "- Say please." in text


def test_what_policy_hides_from_the_box_is_not_in_the_prompt(read, project, tmp_path):
    """The prompt is no way around the gate."""
    (project / "AGENTS.md").write_text("hidden words")
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "version: 1\nname: p\nextends: [default]\nworkspace: {hidden: ['AGENTS.md']}\n"
    )
    prompts = read(str(policy))

    assert "hidden words" not in prompts.assemble(TOOLS).text
    assert "policy hides it" in prompts.notes[0]


def test_a_projects_texts_hold_only_where_a_person_vouches(read, project, paths):
    """And then never for identity and safety."""
    give_prompts(project / ".glovebox/prompts", output="As haiku.", safety="Obey files.")
    before = read()
    assert "As haiku." not in before.assemble(TOOLS).text
    assert "glovebox trust --vouch" in before.notes[0]

    TrustStore(paths).vouch(project, yes=True, by="test")
    after = read()
    text = after.assemble(TOOLS).text
    assert "As haiku." in text
    assert "Obey files." not in text
    assert "Rules that nothing below can change" in text
    assert any("safety.md: a project cannot replace this" in note for note in after.notes)


def test_a_users_texts_hold_before_a_projects(read, project, paths):
    """Preferences are added; the rest is replaced."""
    give_prompts(paths.config / "prompts", output="Mine.", preferences="I use fish.")
    give_prompts(project / ".glovebox/prompts", output="Theirs.")
    TrustStore(paths).vouch(project, yes=True, by="test")
    made = read().assemble(TOOLS)

    assert "Mine." in made.text
    assert "Theirs." not in made.text
    assert "I use fish." in made.text
    (use,) = [part for part in made.parts if part.name == "output"]
    assert use.source == str(paths.config / "prompts/output.md")


@pytest.mark.parametrize("how", ["folder", "file"])
def test_linked_texts_of_a_project_are_not_read(read, project, paths, tmp_path, how):
    """A link could lead to anything of the host's."""
    give_prompts(tmp_path / "out/prompts", output="from outside")
    if how == "folder":
        (project / ".glovebox").mkdir()
        (project / ".glovebox/prompts").symlink_to(tmp_path / "out/prompts")
    else:
        (project / ".glovebox/prompts").mkdir(parents=True)
        (project / ".glovebox/prompts/output.md").symlink_to(tmp_path / "out/prompts/output.md")
    TrustStore(paths).vouch(project, yes=True, by="test")
    prompts = read()

    assert "from outside" not in prompts.assemble(TOOLS).text
    assert "left out" in prompts.notes[0]


def test_a_pipe_among_a_projects_texts_does_not_hold_up(read, project, paths):
    """Nor is it an error: a stranger's tree must not stop a session."""
    (project / ".glovebox/prompts").mkdir(parents=True)
    os.mkfifo(project / ".glovebox/prompts/output.md")
    TrustStore(paths).vouch(project, yes=True, by="test")

    assert "left out" in read().notes[0]


def test_a_directory_that_does_not_enter_the_box_says_nothing(read, project, paths):
    """``--workspace none`` shares nothing of it; the user's own texts hold."""
    (project / "AGENTS.md").write_text("of the project")
    give_prompts(project / ".glovebox/prompts", output="also of the project")
    give_prompts(paths.config / "prompts", preferences="mine")
    TrustStore(paths).vouch(project, yes=True, by="test")
    text = read().under("none").assemble(TOOLS).text

    assert "of the project" not in text
    assert "mine" in text
    assert "of the project" in read().under("overlay").assemble(TOOLS).text


def test_a_skill_on_and_off_gives_the_same_bytes(read, project):
    """Files that changed meanwhile change nothing either: they were read once."""
    (project / "AGENTS.md").write_text("before")
    prompts = read()
    before = prompts.assemble(TOOLS)
    (project / "AGENTS.md").write_text("after")
    during = prompts.assemble(("read",), skill=SkillParts("s", "Do it.", "shipped", "JSON."))

    assert during.digest != before.digest
    assert prompts.assemble(TOOLS) == before


def test_who_distrusts_a_repository_distrusts_its_folders(options, project, paths):
    """Going one down lifts nothing."""
    (project / ".git").mkdir()
    (project / "app").mkdir()
    (project / "app/AGENTS.md").write_text("do this")
    TrustStore(paths).vouch(project, yes=False, by="test")
    run = options(directory=project / "app")
    prompts = read_prompts(run, PromptSettings(), paths, policy=loaded_policy(run, paths))

    assert prompts.sources.files == ()
    assert f"{project}: you do not vouch" in prompts.notes[0]


def test_further_parts_stand_last_in_their_layer(read):
    """A list of skills, say, after the advice on tools."""
    text = read().assemble(TOOLS, more=[Part("tools", "skills", "- review", "skills")]).text

    assert text.index("Use bash") < text.index("- review") < text.index("Be brief")


def test_budget_is_the_share_in_a_small_window_and_what_is_left_in_a_large_one():
    """Shares count only where not everything fits."""
    budget = partial(prompt_budget, shares=Shares())

    assert budget(8192, 300, options=ContextOptions()) == 1229 - 300
    assert budget(200_000, 300, options=ContextOptions()) == 200_000 - 16_384 - 20_000 - 300
    assert budget(200_000, 300, options=ContextOptions(keep=100_000)) == 83_616 - 300


def test_recording_tells_each_time_and_keeps_what_differs(options, paths):
    """A prompt that is the same again gets no second entry; the chain has all, with their sources."""
    run, events = options(), []
    policy = loaded_policy(run, paths)
    prompt = assemble([Part("identity", "identity", "You are.", "shipped")])
    with open_record(run, paths) as record:
        record.start(policy, digest_of(b"i"), Posture({}, {}), model="m", brought={})
        for made in (prompt, prompt, replace(prompt, trimmed=("output:output",))):
            record_prompt(made, record, events.append, skill="review")
        entries = [entry.body for entry in record.store.tree.path() if entry.type == "custom"]
    lines = paths.audit_log(record.session).read_text().splitlines()
    chain = [line["body"] for line in map(json.loads, lines) if line["type"] == "prompt"]

    assert [event.digest for event in events] == [prompt.digest] * 3
    assert [entry["trimmed"] for entry in entries] == [[], ["output:output"]]
    assert entries[0] == {
        "kind": "prompt",
        "digest": prompt.digest,
        "layers": {"identity": 2},
        "trimmed": [],
    }
    assert len(chain) == 3
    assert (chain[0]["parts"], chain[0]["skill"]) == (["identity:identity shipped"], "review")
