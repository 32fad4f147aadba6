"""Plays an agent: installed once, wrapped with a key on the host alone, in front of a strict mock."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from orchestrator.config.paths import Paths
from tests.clients.agents import Agent
from tests.support.aimock import aimock, journal
from tests.support.workspaces import drop_workspaces, give
from tests.support.world import Ended, World

KEY = "real-key"
FIXTURES = Path(__file__).parent.parent / "cases" / "clients-fixtures.json"
INSTALL_S = 300.0


@dataclass(frozen=True)
class Played:
    """What came of it."""

    ended: Ended
    asked: list[dict[str, Any]]
    """What the mock was asked with its own key: it answers nothing else."""
    world: World
    session: str

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the session's events of one kind."""
        return self.ended.of(kind)

    @property
    def said(self) -> str:
        """What the agent printed."""
        return "".join(event["text"] for event in self.events("program_output"))

    def transcript(self) -> list[str]:
        """Return a line for each request: as the box made it, and as the provider got it."""
        made = [
            f"box -> host       {call['path']}: {call['effect']}, {call['status']}"
            for call in self.events("model_call_in_box")
        ]
        got = [
            f"host -> provider  {entry['method']} {entry['path']}: answered, so by the host's key"
            for entry in self.asked
        ]
        return [*made, *got]


def install(agent: Agent) -> Path:
    """Return the folder of its packages, installed once a user and set of versions."""
    name = "-".join(re.sub(r"[^0-9A-Za-z.]+", "-", package) for package in agent.packages)
    folder = Path(tempfile.gettempdir()) / f"glovebox-test-clients-{os.getuid()}" / name
    if not (folder / "done").exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        order = _pip(folder) if "==" in agent.packages[0] else _npm(folder)
        subprocess.run(
            [*order, *agent.packages], check=True, capture_output=True, timeout=INSTALL_S
        )
        (folder / "done").touch()
    return folder


def _npm(folder: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not on the PATH")
    order = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
    return [*order, "--prefix", str(folder)]


def _pip(folder: Path) -> list[str]:
    return [sys.executable, "-m", "pip", "install", "-q", "--target", f"{folder}/node_modules"]


def play(
    agent: Agent, prompt: str, root: Path, *, key: str = KEY, flags: tuple[str, ...] = ()
) -> Played:
    """Wrap an agent on a new project and let it work on a prompt; ``key`` is the host's."""
    world = World(root)
    world.project.mkdir(parents=True)
    (world.project / "notes.txt").write_text("one\n")
    give(world.project)
    home, packages = root / "home", install(agent)
    home.mkdir()
    for name, text in agent.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    give(home)
    with aimock(KEY, fixtures=FIXTURES) as address:
        _configure(world, address)
        keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), key)
        variables = [f"--env={name}={value}" for name, value in agent.environment.items()]
        ended = world.run(
            "wrap",
            "--json",
            f"--policy={root / 'policy.yaml'}",
            f"--add-dir={packages / 'node_modules'}",
            f"--home={home}",
            *variables,
            *flags,
            "--",
            *agent.command(prompt, modules="dirs/node_modules"),
            env=keys,
            timeout=240,
        )
        asked = journal(address, KEY)
    if not list(world.state.glob("audit/*.jsonl")):
        raise RuntimeError(f"{agent.name}: no session came up: {ended.err}")
    return Played(ended, asked, world, world.session())


def _configure(world: World, address: str) -> None:
    """Name the mock as every provider, and let the box ask it."""
    config = world.root / "config"
    config.mkdir()
    providers = {
        "anthropic": {"base_url": address},
        "openai": {"base_url": f"{address}/v1", "also": ["openai-chat"]},
        "gemini": {"base_url": address},
    }
    (config / "config.yaml").write_text(yaml.safe_dump({"providers": providers}))
    policy = {
        "version": 1,
        "name": "clients",
        "extends": ["default"],
        "models": {"in_box": "allow", "box": {"allow": ["*"]}},
    }
    (world.root / "policy.yaml").write_text(yaml.safe_dump(policy))


def kept_in(played: Played, secret: str) -> list[str]:
    """Return the files of the state that hold a value, which none may."""
    return [
        str(path)
        for path in played.world.state.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def changed(played: Played) -> dict[str, Any]:
    """Return what waits, by path."""
    rows: list[dict[str, Any]] = [
        row for event in played.events("workspace") for row in event["changed"]
    ]
    return {row["path"]: row for row in rows}


def records(played: Played, *kinds: str) -> list[dict[str, Any]]:
    """Return the bodies of the audit's records of some kinds."""
    chain = played.world.state / "audit" / f"{played.session}.jsonl"
    lines = (json.loads(line) for line in chain.read_text().splitlines())
    return [line["body"] for line in lines if line["type"] in kinds]


def drop(played: Played) -> None:
    """Remove what a session left in the engine."""
    drop_workspaces(Paths(played.world.state, played.world.root / "config"))
