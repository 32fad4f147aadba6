"""What can happen to a session, each as one blow at a moment of its life."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import docker
from docker.errors import APIError
from docker.models.containers import Container

from tests.chaos.story import Story

PAUSE_S = 6.0
"""Longer than either side waits for the other's heartbeat."""


@dataclass(frozen=True)
class Blow:
    """What falls on a session at one moment of it."""

    story: Story
    engine: docker.DockerClient

    def nothing(self) -> str:
        """Leave the session alone."""
        return "nobody"

    def kill_harness(self) -> str:
        """Kill the host's process without a chance to tidy up."""
        return self._signal(signal.SIGKILL)

    def terminate_harness(self) -> str:
        """Ask the host's process to end, as a service manager does."""
        return self._signal(signal.SIGTERM)

    def interrupt_harness(self) -> str:
        """Press Ctrl-C."""
        return self._signal(signal.SIGINT)

    def suspend_harness(self) -> str:
        """Stop the host's process for a while, as Ctrl-Z or a sleeping laptop does."""
        hit = self._signal(signal.SIGSTOP)
        if hit:
            time.sleep(PAUSE_S)
            self._signal(signal.SIGCONT)
        return hit

    def kill_container(self) -> str:
        """End the container's processes from outside."""
        return self._strike(lambda container: container.kill())

    def remove_container(self) -> str:
        """Remove the container by force."""
        return self._strike(lambda container: container.remove(force=True))

    def pause_container(self) -> str:
        """Freeze the whole container for a while."""
        return self._strike(_pause)

    def stop_server(self) -> str:
        """Stop the tool server for good; only its silence can be noticed."""
        return self._strike(_stop_server)

    def _signal(self, number: signal.Signals) -> str:
        if self.story.process.poll() is not None:
            return ""
        os.kill(self.story.process.pid, number)
        return f"pid {self.story.process.pid}"

    def _strike(self, hit: Callable[[Container], None]) -> str:
        session = self.story.session
        for container in containers_of(self.engine, session) if session else ():
            # It may end in this moment by itself.
            with suppress(APIError):
                hit(container)
                return container.short_id
        return ""


def _pause(container: Container) -> None:
    container.pause()
    time.sleep(PAUSE_S)
    with suppress(APIError):
        container.unpause()


def _stop_server(container: Container) -> None:
    for row in container.top()["Processes"]:
        if "toolserver" in row[-1]:
            with suppress(ProcessLookupError):
                os.kill(int(row[1]), signal.SIGSTOP)


FAULTS: dict[str, Callable[[Blow], str]] = {
    fault.__name__: fault
    for fault in (
        Blow.nothing,
        Blow.kill_harness,
        Blow.terminate_harness,
        Blow.interrupt_harness,
        Blow.suspend_harness,
        Blow.kill_container,
        Blow.remove_container,
        Blow.pause_container,
        Blow.stop_server,
    )
}
"""By name; each strikes and says what it hit, an empty text where there was nothing to hit."""


def containers_of(engine: docker.DockerClient, session: str) -> list[Container]:
    """Return every container of a session, of whatever kind."""
    wanted = {"label": f"glovebox.session={session}"}
    return engine.containers.list(all=True, filters=wanted, ignore_removed=True)
