"""Background processes of a real box, in the words of a test."""

from typing import Any

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
)
from tests.support.boxes import Scene


def look(pattern: str | None = None, wait_s: float = 20.0, **more: Any) -> Look:
    """Wait for a pattern, or with none for the end."""
    return Look(wait_s=wait_s, pattern=pattern, **more)


class Started:
    """One process under its handle; each method returns the answer's data."""

    def __init__(self, scene: Scene, handle: str = "p1") -> None:
        self.box = scene.box
        self.handle = handle

    async def start(
        self, command: str, wanted: Look | None = None, *, cwd: str = "/workspace", **more: Any
    ) -> dict[str, Any]:
        request = ProcessStart(command, cwd, self.handle, look=wanted or look(wait_s=0.3), **more)
        return data(await self.box.execute(request))

    async def output(self, wanted: Look | None = None) -> dict[str, Any]:
        return data(await self.box.execute(ProcessOutput(self.handle, wanted or look(wait_s=0.0))))

    async def type(self, text: str, wanted: Look | None = None, **more: Any) -> dict[str, Any]:
        request = ProcessInput(self.handle, text, look=wanted or look(wait_s=0.3), **more)
        return data(await self.box.execute(request))

    async def signal(self, name: Any, wanted: Look | None = None) -> dict[str, Any]:
        return data(await self.box.execute(ProcessSignal(self.handle, name, wanted or look())))


async def listed(scene: Scene) -> list[dict[str, Any]]:
    """Return what is known of each process."""
    return data(await scene.box.execute(ProcessList()))["processes"]


def data(outcome: Outcome) -> dict[str, Any]:
    """Return the data of a request that must be done."""
    assert outcome.error is None, outcome
    return dict(outcome.data)
