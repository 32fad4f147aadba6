"""Switching a skill on and off: what it changes, and that nothing of it is left."""

from functools import partial
from types import SimpleNamespace

import anyio
import pytest
import yaml

from orchestrator.context.speech import Speech
from orchestrator.errors import PromptError, SkillError
from orchestrator.harness.models.models import ModelSource, open_models
from orchestrator.harness.models.remembered import Remembered, remembered
from orchestrator.harness.models.roles import Roles
from orchestrator.harness.skills.desk import OfferedTools, SkillDesk
from orchestrator.harness.skills.voting import SkillVotes
from orchestrator.policy.evaluate import evaluate
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ExecRequest
from orchestrator.schema.shares import Shares
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from orchestrator.skills.active import activate
from orchestrator.skills.discover import Root, discover
from orchestrator.tools.registry import BUILTIN_NAMES, builtin_tools
from tests.support.shipped import shipped

SKILL = """---
name: tidy
description: Tidies up.
allowed-tools: [read, bash]
budget: {max-tokens: 5000, shares: {system: 0.1, output: 0.1}}
triggers: {words: [broom, dust]}
output-format: One line.
policy:
  commands:
    rules:
      - {id: no-touch, program: touch, effect: deny, reason: "no"}
model: MODEL
thinking: low
---
Sweep.
"""
GREEDY = "---\nname: greedy\ndescription: x\nmodel: nobody/knows\n---\nToo much.\n"
TOUCH = ExecRequest("touch x", "/workspace", 10)
POLICY = shipped("default")


class Records(list):
    """An audit chain that is a list."""

    def append(self, kind, body):
        super().append((kind, body))


@pytest.fixture
def script(tmp_path):
    def make(name):
        path = tmp_path / f"{name}.yaml"
        turns = [{"text": "x"}]
        path.write_text(yaml.safe_dump({"version": 1, "model": {"name": name}, "turns": turns}))
        return f"scripted:{path}"

    return make


@pytest.fixture
def store(tmp_path):
    header = SessionHeader(SessionId("0123456789ab"), "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(tmp_path / "s.jsonl", header) as found:
        yield found


@pytest.fixture
def work(tmp_path, script, store):
    """Do something at a desk with two skills; the second is one that no prompt has room for."""
    for name, text in (("tidy", SKILL.replace("MODEL", script("other"))), ("greedy", GREEDY)):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)
    catalogue = discover([Root(tmp_path / "skills", "user")], tools=BUILTIN_NAMES)
    assert not catalogue.errors

    def run(task, *, skills=catalogue):
        async def main():
            policy = SimpleNamespace(name="p", model_allowed=lambda _: True, models_allow=())
            events, notes = [], []
            source = ModelSource({}, {}, lambda _: None, notes.append, lambda text: text)
            roles = Roles(script("main"), thinking="high")
            async with open_models(roles, policy, source, observe=events.append) as models:

                def speak(active, offered):
                    if active and active.skill.name == "greedy":
                        raise PromptError("too long")
                    names = " ".join(tool.definition.name for tool in offered)
                    said = f"{active.instructions if active else ''}|{names}|{models.info.name}"
                    shares = active.shares if active else None
                    return Speech(said, (), models.thinking, shares or Shares())

                tools = OfferedTools({tool.definition.name: tool for tool in builtin_tools()})
                desk = SkillDesk(
                    skills,
                    tools,
                    SkillVotes(),
                    models,
                    store,
                    Records(),
                    events.append,
                    notes.append,
                    speak,
                )
                return await task(desk)

        return anyio.run(main)

    return run


def everything(desk):
    """Every field of what a skill may touch."""
    policy = desk.votes.under(POLICY)
    return {
        "speech": desk.speech(),
        "tools": list(desk.tools),
        "count": len(desk.tools),
        "layers": policy.layers,
        "policy": policy,
        "touch": evaluate(policy, TOUCH, tool="bash"),
        "process": evaluate(policy, TOUCH, tool="process"),
        "wish": desk.models.wish,
        "thinking": desk.models.thinking,
        "model": desk.models.info,
        "max_tokens": desk.max_tokens(),
        "name": desk.name,
        "active": desk.active,
    }


def test_every_field_changes_and_every_field_comes_back(work):
    """On, off and on again: what holds without a skill is byte for byte what held before."""

    async def task(desk):
        before = everything(desk)
        await desk.use("tidy")
        on = everything(desk)
        await desk.use(None)
        return before, on, everything(desk)

    before, on, after = work(task)

    assert after == before
    assert {key for key in before if on[key] == before[key]} == set()
    assert on["tools"] == ["read", "bash"]
    assert on["speech"].system == "# Skill: tidy\n\nSweep.|read bash|other"
    assert on["speech"].thinking == "low"
    assert (on["touch"].effect, before["touch"].effect) == ("deny", "allow")
    assert on["process"].effect == "deny"
    assert (before["max_tokens"], on["max_tokens"]) == (None, 5000)


def test_a_switch_that_fails_changes_nothing(work):
    """Neither from none nor from another skill; unknown, or too long for any prompt."""

    async def task(desk):
        for name in ("greedy", "nobody"):
            for first in (None, "tidy"):
                await desk.use(first)
                before = everything(desk)
                with pytest.raises((PromptError, SkillError)):
                    await desk.use(name)
                assert everything(desk) == before
        return [body["skill"] for _, body in desk.audit]

    assert work(task) == ["tidy", None, "tidy"]


def test_a_model_that_the_person_chose_meanwhile_stays(work, script):
    """A skill's wish is taken back, a person's word is not."""

    async def task(desk):
        await desk.use("tidy")
        await desk.models.switch(script("third"))
        desk.models.think("max")
        await desk.use(None)
        return desk.models.info.name, desk.models.thinking, desk.speech().system

    assert work(task) == ("third", "max", "|read write edit bash|third")


def test_a_wish_is_never_taken_for_the_persons_choice(work, store, script):
    """A session that stopped under a skill goes on with the model that the person chose."""

    async def task(desk):
        desk.models.note = partial(store.append, "model_change")
        store.append("model_change", desk.models.change("start"))
        await desk.use("tidy")
        desk.models.think("max")
        return remembered(store.path), desk.models.info.name, desk.models.thinking

    assert work(task) == (Remembered(script("main"), "max"), "other", "max")


def test_triggers_choose_unless_a_skill_is_on_or_routing_is_off(work, store):
    """With the confidence recorded."""

    async def task(desk):
        match = await desk.route("broom and dust")
        await desk.use("tidy")
        again = await desk.route("broom and dust")
        await desk.take_off(resumed=False)
        return match, again, await desk.route("broom and dust")

    match, again, after = work(task)
    entries = [entry.body for entry in store.tree.path() if entry.type == "skill_change"]

    assert (match.skill, again, after) == ("tidy", None, None)
    assert [(e["skill"], e["by"], e["confidence"]) for e in entries] == [
        ("tidy", "trigger", 0.75),
        ("tidy", "user", 1.0),
        (None, "user", 1.0),
    ]


def test_a_session_that_is_taken_up_has_its_skill_again(work):
    """Without a new entry; where it is gone the session does not go on without its rules."""

    async def on(desk):
        await desk.use("tidy")

    async def again(desk):
        await desk.take_up(anew=True)
        return desk.name, list(desk.tools), list(desk.audit)

    async def gone(desk):
        with pytest.raises(SkillError, match="had the skill tidy on") as error:
            await desk.take_up(anew=True)
        await desk.take_off(resumed=True)
        await desk.take_up(anew=True)
        return error.value.hint, desk.name

    work(on)
    assert work(again) == ("tidy", ["read", "bash"], [])
    empty = discover([], tools=BUILTIN_NAMES)
    hint, name = work(gone, skills=empty)
    assert "--skill off" in hint
    assert name is None


def test_what_was_chosen_for_one_thing_goes_on_only_where_nothing_else_is_said(work):
    """A run that was killed is the same run; a new word is not."""

    async def chosen(desk):
        await desk.use("tidy", "trigger", 0.8)

    async def same(desk):
        await desk.take_up(anew=False)
        was = desk.name, desk.by, list(desk.audit)
        await desk.route("something else")
        return was, desk.name, [(body["skill"], body["by"]) for _, body in desk.audit]

    async def other(desk):
        await desk.take_up(anew=True)
        return desk.name, [(body["skill"], body["by"]) for _, body in desk.audit]

    work(chosen)
    assert work(same) == (("tidy", "trigger", []), None, [(None, "trigger")])
    work(chosen)
    assert work(other) == (None, [(None, "trigger")])


def test_only_what_nobody_switched_on_is_settled(work):
    async def task(desk):
        before = everything(desk)
        await desk.route("broom and dust")
        await desk.settle()
        after = everything(desk)
        await desk.use("tidy")
        await desk.settle()
        return before == after, desk.name

    assert work(task) == (True, "tidy")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Sweep.", "Mop.", "the text of skill tidy is another now"),
        ("forbidden-tools: [process]", "forbidden-tools: []", "it has other rules now"),
        ("effect: deny", "effect: ask", "it has other rules now"),
        ("max-tokens: 5000", "max-tokens: 6000", "it has other rules now"),
    ],
)
def test_a_skill_that_changed_is_taken_up_under_the_same_rules_alone(
    tmp_path, work, old, new, told
):
    """Else what held would be loosened in silence; whoever names it takes it as it is."""
    file = tmp_path / "skills/tidy/SKILL.md"
    text = file.read_text().replace("allowed-tools: [read, bash]", "forbidden-tools: [process]")

    def catalogue(text):
        file.write_text(text)
        return discover([Root(tmp_path / "skills", "user")], tools=BUILTIN_NAMES)

    async def on(desk):
        await desk.use("tidy")

    async def again(desk):
        said = []
        desk.note = said.append
        try:
            await desk.take_up(anew=True)
        except SkillError as error:
            return error.message, error.hint, desk.name
        return said[0], "", desk.name

    work(on, skills=catalogue(text))
    assert old in text
    message, hint, name = work(again, skills=catalogue(text.replace(old, new)))

    assert told in message
    assert ("--skill tidy" in hint, name) == ((True, None) if "rules" in told else (False, "tidy"))


def test_a_place_of_the_conversation_has_the_skill_that_was_on_there(work, store):
    """Whichever way it is gone to; what was chosen for one thing alone is on nowhere."""

    async def task(desk):
        def move(leaf):
            return lambda: store.append("leaf", {"target": leaf})

        def say(text):
            return store.append("message", {"role": "user", "content": text})

        bare = say("a")
        before = everything(desk)
        await desk.use("tidy")
        tidy = say("b")
        on = everything(desk)
        await desk.follow(desk.there(bare), move(bare))
        left = everything(desk)
        await desk.use("tidy", "trigger", 0.8)
        chosen = say("c")
        await desk.settle()
        await desk.follow(desk.there(tidy), move(tidy))
        back = everything(desk)
        told = len(desk.audit)
        await desk.follow(desk.there(tidy), move(tidy))
        assert len(desk.audit) == told
        await desk.follow(desk.there(chosen), move(chosen))
        await desk.take_up(anew=False)
        return (left, back, desk.name), (before, on, None)

    got, wanted = work(task)

    assert got == wanted


def test_nothing_moves_where_the_skill_of_a_place_cannot_be_used(work, store):
    async def on(desk):
        await desk.use("tidy")
        return store.append("message", {"role": "user", "content": "a"})

    async def back(desk):
        with pytest.raises(SkillError, match="had the skill tidy on"):
            desk.there(tidy)

    async def too_long(desk):
        [greedy] = [skill for skill in desk.catalogue.skills.values() if skill.name == "greedy"]
        active = activate(greedy, tools=("read",), known=BUILTIN_NAMES)
        with pytest.raises(PromptError):
            await desk.follow(active, lambda: pytest.fail("moved"))
        return desk.name

    tidy = work(on)
    work(back, skills=discover([], tools=BUILTIN_NAMES))
    assert work(too_long) is None
