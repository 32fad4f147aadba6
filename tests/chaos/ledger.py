"""What may be left behind: nothing. And what may be lost: nothing that was acknowledged."""

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import docker

from tests.chaos.faults import containers_of
from tests.chaos.story import Story
from tests.support.world import Ended

SETTLE_S = 20.0
"""From the end of a harness to the end of its box: the heartbeat's patience, and a busy engine."""
_BY_SIGNAL = {130, 143}


@dataclass
class Finding:
    """How one session came out."""

    fault: str
    hit: str
    code: int
    resumed: int | None
    """Exit code of the run that went on; None where there was no session to go on with."""
    problems: list[str] = field(default_factory=list)


def settle(
    story: Story, ended: Ended, engine: docker.DockerClient, *, fault: str, hit: str
) -> Finding:
    """Go on with an ended session, take its changes, and look at what is left."""
    finding = Finding(fault, hit, ended.code, None)
    if ended.code == -1:
        finding.problems.append(ended.err)
    finding.problems += _end_of(story, ended)
    acknowledged = story.acknowledged()
    session = story.session
    if session and not _gone(engine, session):
        story.world.run("gc")
        if not _gone(engine, session, seconds=2.0):
            finding.problems.append("a container outlived gc")
    if session and story.has_file and ended.code != 0:
        resumed = story.go_on()
        finding.resumed = resumed.code
        if resumed.code != 0:
            said = [event["message"] for event in resumed.of("error")] if resumed.out else []
            finding.problems.append(
                f"resume ended with {resumed.code}: {said} {resumed.err[-500:]}"
            )
    if session and story.has_file:
        finding.problems += _losses(story, session, acknowledged)
    finding.problems += _leaks(story, engine, session)
    return finding


def _end_of(story: Story, ended: Ended) -> list[str]:
    """Look for the end that every session has whose process was not killed."""
    if ended.code < 0 or not story.events_of("session_start"):
        return []
    last = story.events[-1]
    if last["type"] != "session_end":
        return [f"its last event is {last['type']}, not session_end: {ended.err[-300:]}"]
    # A signal that comes when the session is over ends the farewell alone.
    late = last["exit_code"] == 0 and ended.code in _BY_SIGNAL
    if last["exit_code"] != ended.code and not late:
        return [f"session_end says {last['exit_code']}: {ended.err[-300:]}"]
    return []


def _losses(story: Story, session: str, acknowledged: list[int]) -> list[str]:
    problems = []
    applied = story.world.run("apply", session)
    if applied.code != 0:
        problems.append(f"apply ended with {applied.code}: {applied.err[-300:]}")
    lines = story.lines()
    problems += [
        f"turn {number}: acknowledged, but its line is gone"
        for number in acknowledged
        if not lines[number]
    ]
    problems += [
        f"turn {number}: ran {count} times" for number, count in lines.items() if count > 1
    ]
    verified = story.world.run("audit", "verify", session)
    if verified.code != 0:
        problems.append(f"audit: {verified.out}{verified.err}")
    return problems


def _leaks(story: Story, engine: docker.DockerClient, session: str | None) -> list[str]:
    swept = story.world.run("gc")
    problems = [] if swept.code == 0 else [f"gc ended with {swept.code}: {swept.err[-300:]}"]
    if session is None:
        return problems
    if containers_of(engine, session):
        problems.append("a container is left")
    volumes = [volume.name for volume in engine.volumes.list() if session in volume.name]
    if volumes:
        problems.append(f"volumes are left: {volumes}")
    networks = [net.name for net in engine.networks.list() if session in net.name]
    if networks:
        problems.append(f"networks are left: {networks}")
    held = [
        line for line in Path("/proc/self/mountinfo").read_text().splitlines() if session in line
    ]
    if held:
        problems.append(f"mounts are left: {held}")
    if list((story.world.state / "work").glob("*")):
        problems.append("a work folder is left")
    problems += [f"process {line} is left" for line in _processes(session)]
    return problems


def _processes(session: str) -> list[str]:
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return [line.strip() for line in found.stdout.splitlines() if session in line]


def _gone(engine: docker.DockerClient, session: str, seconds: float = SETTLE_S) -> bool:
    deadline = time.monotonic() + seconds
    while containers_of(engine, session):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
