"""A run in a real box, with a world outside that belongs to the test."""

import json
from pathlib import Path

import yaml

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.harness.options import RunOptions
from orchestrator.harness.run import run_session
from orchestrator.schema.event import ToolEnd
from tests.support.workspaces import give
from tests.support.world import bash


class Told:
    """A front door that keeps what it is told."""

    def __init__(self, somebody=None):
        self.events, self.notes, self.somebody = [], [], somebody

    def observer(self, session):
        self.session = session
        return self.events.append

    def person(self):
        return self.somebody

    def note(self, text):
        self.notes.append(text)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def outputs(self):
        return [event.output for event in self.of(ToolEnd)]


class Outing:
    """One run under a policy, with a world outside of the test's own."""

    def __init__(self, root: Path):
        self.root = root
        self.paths = Paths(root / "state", root / "config")
        self.project = root / "project"
        self.project.mkdir()
        give(self.project)
        self.told = Told()

    def policy(self, **network):
        path = self.root / "policy.yaml"
        body = {"version": 1, "name": "out", "extends": ["default"], "network": network}
        path.write_text(yaml.safe_dump(body))
        return str(path)

    async def run(self, policy, *commands, net, settings=None, **more):
        script = self.root / "script.yaml"
        turns = [*(bash(command) for command in commands), {"text": "done"}]
        script.write_text(yaml.safe_dump({"version": 1, "turns": turns}))
        options = RunOptions(
            prompt="go",
            directory=self.project,
            model=f"scripted:{script}",
            policies=(policy,),
            **more,
        )
        self.end = await run_session(
            options, settings or Settings(), self.paths, front=self.told, net=net
        )
        return self.told.outputs

    def records(self, kind):
        (chain,) = (self.paths.state / "audit").glob("*.jsonl")
        found = (json.loads(line) for line in chain.read_bytes().splitlines())
        return [item["body"] for item in found if item["type"] == kind]


def allow(*hosts, **more):
    """A rule."""
    return {"id": "web", "hosts": list(hosts), "effect": "allow", **more}
