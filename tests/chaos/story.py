"""One session that something happens to: what it was told to do, and what it said it had done."""

import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.config.paths import project_slug
from tests.support.workspaces import give
from tests.support.world import Ended, World, bash

TURNS = 6
LOG = "log.txt"
TALK_S = 120.0
"""Longer than any run of this story takes, faults included."""


def script_turns():
    """Each turn leaves one line; a line of a call that was acknowledged may never be missing."""
    turns = [bash(f"echo {number} >> {LOG}; sleep 0.1") for number in range(TURNS)]
    # One more for a run that is taken up again after its last word.
    return [*turns, {"text": "done"}, {"text": "nothing left to do"}]


@dataclass(frozen=True)
class Moment:
    """A point in a session's life."""

    point: int
    """0 is the start of its process, 1 that of the session, each further one the end of a call."""
    delay_s: float


@dataclass
class Story:
    """A real run in a world of its own, watched through its events."""

    world: World
    model: str
    process: subprocess.Popen
    events: list[dict] = field(default_factory=list)
    _reader: threading.Thread | None = None

    @classmethod
    def begin(cls, root: Path, env: dict[str, str]) -> "Story":
        """Start the run."""
        world = ChaosWorld(root, env)
        world.project.mkdir(parents=True)
        (world.project / LOG).touch()
        give(world.project)
        model = world.script(*script_turns())
        process = world.start("run", "go", "-m", model, "--json", process_group=0)
        story = cls(world, model, process)
        story._reader = threading.Thread(target=story._read, daemon=True)
        story._reader.start()
        return story

    @property
    def session(self) -> str | None:
        """The session's id, once there is anything of it on disk."""
        found = list((self.world.state / "work").glob("*"))
        found += list((self.world.state / "audit").glob("*.jsonl"))
        return found[0].stem if found else None

    @property
    def has_file(self) -> bool:
        """Say whether there is a session to go on with."""
        return any(self._sessions.glob("*.jsonl"))

    def wait_for(self, moment: "Moment") -> None:
        """Return at the moment, or when the run is over before it."""
        while len(self.events_of("tool_end", "session_start")) < moment.point:
            if self.process.poll() is not None:
                return
            time.sleep(0.01)
        time.sleep(moment.delay_s)

    def events_of(self, *kinds: str) -> list[dict]:
        """Return the events of some kinds that were seen so far."""
        return [event for event in list(self.events) if event["type"] in kinds]

    def acknowledged(self) -> list[int]:
        """Return the turns whose call was reported as done."""
        ends = self.events_of("tool_end")
        return [number for number, event in enumerate(ends) if not event["is_error"]]

    def finish(self) -> Ended:
        """Wait for the run's end; one that hangs is killed, and counts as a failure."""
        try:
            self.process.wait(TALK_S)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return Ended(-1, "", f"hung for {TALK_S:.0f} s")
        if self._reader is not None:
            self._reader.join(10)
        with self.process.stderr:
            error = self.process.stderr.read()
        self.process.stdout.close()
        return Ended(self.process.returncode, "", error)

    def go_on(self) -> Ended:
        """Take the session up again, if there is one."""
        return self.world.run(
            "run", "--resume", self.session, "-m", self.model, "--json", timeout=TALK_S
        )

    def lines(self) -> Counter:
        """Return how often each turn's line is in the applied file."""
        text = (self.world.project / LOG).read_text()
        return Counter(int(line) for line in text.split())

    @property
    def _sessions(self) -> Path:
        return self.world.state / "sessions" / project_slug(self.world.project.resolve())

    def _read(self) -> None:
        for line in self.process.stdout:
            self.events.append(json.loads(line))


class ChaosWorld(World):
    """A world on a given engine."""

    def __init__(self, root: Path, more: dict[str, str]) -> None:
        super().__init__(root)
        self._more = more

    def env(self, **more):
        return super().env(**self._more, **more)
