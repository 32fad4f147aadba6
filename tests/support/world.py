"""Running the real command line, in a world of its own: own state, own configuration, no keys."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support import warm

GLOVEBOX = Path(sys.executable).parent / "glovebox"
KEPT = ("PATH", "HOME", "LANG", "DOCKER_HOST", "DOCKER_CONFIG", "USER", "LOGNAME")


@dataclass
class Ended:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind):
        return [event for event in self.events if event["type"] == kind]


@dataclass
class World:
    """State, configuration and a project, all under one temporary directory."""

    root: Path

    @property
    def project(self):
        return self.root / "project"

    @property
    def state(self):
        return self.root / "state"

    def env(self, **more):
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = {
            "GLOVEBOX_STATE": str(self.state),
            "GLOVEBOX_CONFIG": str(self.root / "config"),
            "GLOVEBOX_DEBUG": "1",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        merged = kept | own | more
        return {name: value for name, value in merged.items() if value is not None}

    def script(self, *turns, name="script.yaml", **top):
        path = self.root / name
        path.write_text(yaml.safe_dump({"version": 1, "turns": list(turns), **top}))
        return f"scripted:{path}"

    def run(
        self, *arguments, env=None, stdin=None, timeout=100, cwd=None, module=warm.COMMAND_LINE
    ):
        done = warm.run(
            arguments,
            cwd=cwd or self.project,
            env=self.env(**(env or {})),
            stdin=stdin,
            timeout=timeout,
            module=module,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments, env=None, **options):
        return subprocess.Popen(
            [GLOVEBOX, *arguments],
            cwd=self.project,
            env=self.env(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def session(self):
        return max(self.state.glob("audit/*.jsonl"), key=lambda path: path.stat().st_mtime_ns).stem

    def records(self, *kinds):
        """The bodies of the newest session's audit records of these kinds."""
        lines = (self.state / "audit" / f"{self.session()}.jsonl").read_text().splitlines()
        return [line["body"] for line in map(json.loads, lines) if line["type"] in kinds]


def bash(command, **more):
    """One scripted turn that runs a command."""
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command, **more}}]}


def call(name, **arguments):
    """One scripted turn that calls a tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}
