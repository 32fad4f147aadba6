"""Network rules are taken over while a session runs, by the rules that hold at its start too."""

import os

import anyio
import anyio.from_thread
import pytest

from orchestrator.config.paths import Paths
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.files import PolicyFiles
from orchestrator.harness.egress.in_force import RulesInForce
from orchestrator.harness.egress.reload import NetworkReload, PolicySource
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_policy import keep_policy, project_policies
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.schema.event import PolicyChange
from tests.support.egress_desk import GET, says
from tests.support.installed import Installation

pytestmark = pytest.mark.anyio
RULE = "{id: r, hosts: [a.example], effect: allow}"


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Listed:
    """An audit in memory."""

    def __init__(self):
        self.records = []

    def append_all(self, entries, /):
        self.records += [(kind, dict(body)) for kind, body in entries]
        return [len(self.records)] * len(entries)


class Scene:
    """One session's rules, and the files that they come from."""

    def __init__(self, root):
        self.root = root
        self.file = root / "work.yaml"
        self.write("network: {default: allow}")
        self.project = root / "project"
        self.project.mkdir()
        self.options = RunOptions(
            prompt=None, directory=self.project, model="none", policies=(str(self.file),)
        )
        self.paths = Paths(root / "state", root / "config")
        self.system = OwnedFolder(root / "system", owner=os.geteuid())
        self.events, self.notes, self.rechecks = [], [], 0
        self.audit = Listed()
        self.lapses = False

    def write(self, text, name="work"):
        self.file.write_text(f"version: 1\nname: {name}\n{text}\n")

    def write_project(self, text):
        folder = self.project / ".glovebox"
        folder.mkdir(exist_ok=True)
        (folder / "policy.yaml").write_text(f"version: 1\nname: shop\n{text}\n")

    def agree(self):
        for found in project_policies(self.project, self.paths):
            keep_policy(found, self.paths, by="ann")

    def recheck(self):
        self.rechecks += 1
        return 2

    def start(self):
        source = PolicySource(self.options, self.paths, (), self.system)
        policy, _ = source.load()
        agreed = PolicySource.of(self.options, self.paths, policy).agreed
        self.rules = RulesInForce(says(policy.network.default), policy.digest)
        self.book = EgressBook(self.audit, scrub=lambda body: body, on_failure=lambda: None)

        async def build(policy):
            return says(policy.network.default)

        self.reload = NetworkReload(
            source=PolicySource(self.options, self.paths, agreed, self.system),
            rules=self.rules,
            build=build,
            book=self.book,
            changed=PolicyFiles(self.options, self.paths, system=self.system).changed,
            lapsed=lambda: self.lapses,
            recheck=self.recheck,
            observe=self.events.append,
            note=self.notes.append,
            held=policy,
        )
        return self

    @property
    def effect(self):
        return self.rules.ruling(GET).verdict.decision.effect

    async def look(self):
        async with self.book.running():
            await self.reload.look()


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


async def test_changed_rules_hold_and_close_what_they_no_longer_allow(scene):
    scene.start()
    old = scene.rules.digest
    scene.write("network: {default: deny}")
    await scene.look()

    assert (scene.effect, scene.rules.generation, scene.rechecks) == ("deny", 2, 1)
    ((kind, body),) = scene.audit.records
    assert (kind, body["old_digest"], body["generation"]) == ("policy_change", old, 2)
    (event,) = scene.events
    assert isinstance(event, PolicyChange)
    assert (event.digest, event.closed) == (scene.rules.digest, 2)
    assert str(scene.file) in event.files
    assert "2 connections closed" in scene.notes[0]


async def test_nothing_changed_is_nothing_done(scene):
    scene.start()
    await scene.look()

    assert (scene.rules.generation, scene.rechecks, scene.notes) == (1, 0, [])


@pytest.mark.parametrize("broken", ["network: {default: sometimes}", "network: [", "\t"])
async def test_broken_file_changes_nothing_and_says_so_once(scene, broken):
    """The rules that held hold on: neither shut for everybody nor open."""
    scene.start()
    scene.write(broken)
    await scene.look()
    await scene.look()

    assert (scene.effect, scene.rules.generation) == ("allow", 1)
    assert len(scene.notes) == 1
    assert "the network rules stay as they were" in scene.notes[0]
    assert [kind for kind, _ in scene.audit.records] == ["policy_kept"]


async def test_mended_file_holds(scene):
    scene.start()
    scene.write("network: [")
    await scene.look()
    scene.write("network: {default: ask}")
    await scene.look()

    assert (scene.effect, scene.rules.generation) == ("ask", 2)


async def test_file_that_is_gone_changes_nothing(scene):
    scene.start()
    scene.file.unlink()
    await scene.look()

    assert (scene.effect, scene.rules.generation) == ("allow", 1)
    assert "cannot be read" in scene.notes[0]


async def test_other_sections_wait_for_the_next_session(scene):
    scene.start()
    scene.write("network: {default: allow}\ncommands: {default: deny}")
    await scene.look()

    assert (scene.rules.generation, scene.events) == (1, [])
    assert "from the next session on" in scene.notes[0]


async def test_installed_layer_tightens_and_cannot_be_loosened_without_its_signature(
    scene, tmp_path
):
    """What an organisation signed is verified as it is at the start."""
    installed = Installation(tmp_path / "system")
    installed.install(text="network: {default: deny}", serial=1)
    scene.system = installed.folder
    scene.start()
    installed.put("org", "network: {default: allow}")
    await scene.look()
    kept = scene.effect, scene.rules.generation
    installed.install(text="network: {default: ask}", serial=2)
    await scene.look()

    assert kept == ("deny", 1)
    assert (scene.effect, scene.rules.generation) == ("ask", 2)
    assert "the network rules stay as they were" in scene.notes[0]


async def test_layer_of_the_user_that_was_not_there_holds_once_it_is(scene):
    scene.start()
    scene.paths.config.mkdir()
    (scene.paths.config / "policy.yaml").write_text(
        "version: 1\nname: mine\nnetwork: {default: deny}\n"
    )
    await scene.look()

    assert scene.rules.generation == 2


async def test_project_policy_that_nobody_knows_keeps_nobody_from_tightening(scene):
    """A box that can write the project's own policy cannot hold up another layer's change."""
    scene.write_project("network: {default: ask}")
    scene.agree()
    scene.start()
    scene.write_project("network: [")
    scene.write("network: {default: deny}")
    await scene.look()

    assert scene.effect == "deny"
    held = [layer for layer in scene.reload.held.layers if layer.name == "project"]
    assert held[0].document.network.default == "ask"
    assert any("the one that this session began with holds" in note for note in scene.notes)


async def test_project_policy_that_a_person_said_yes_to_holds(scene):
    scene.write_project("network: {default: ask}")
    scene.agree()
    scene.start()
    scene.write_project("network: {default: deny}")
    await scene.look()
    before = scene.rules.generation
    scene.agree()
    await scene.look()

    assert (before, scene.rules.generation) == (1, 2)


async def test_yes_that_stands_no_longer_is_looked_for(scene):
    scene.start()
    scene.lapses = True
    await scene.look()

    assert scene.rechecks == 1


async def test_look_that_fails_is_told_and_the_next_one_is_taken(scene):
    """Whatever breaks in it: the rules that hold go on holding, and are looked after."""
    scene.start()
    looks, third = [], anyio.Event()

    def changed():
        looks.append(1)
        if len(looks) == 1:
            raise RuntimeError("a bug")
        if len(looks) == 3:
            anyio.from_thread.run_sync(third.set)
        return ()

    scene.reload.changed, scene.reload.look_s = changed, 0.01
    async with scene.book.running(), anyio.create_task_group() as group:
        group.start_soon(scene.reload.run)
        await third.wait()
        group.cancel_scope.cancel()

    assert "could not be looked at: RuntimeError: a bug" in scene.notes[0]
