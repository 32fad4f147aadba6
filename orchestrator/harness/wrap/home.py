"""What a wrapped program finds in its home: copies of a directory of the host, made at each start."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import BoxError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.ground import Ground
from orchestrator.harness.options import RunOptions
from orchestrator.schema.request import ExecRequest
from orchestrator.workspace.extra_dirs import target_names

COPY_S = 120.0


@dataclass(frozen=True, slots=True)
class HomeSource:
    """A directory of the host, and where the box sees it, read-only."""

    directory: Path
    target: str

    @classmethod
    def of(cls, options: RunOptions, directory: Path) -> HomeSource:
        """Return the place of one of the session's further directories."""
        at = options.add_dirs.index(directory)
        return cls(directory, target_names(options.add_dirs)[at])

    async def fill(self, ground: Ground) -> None:
        """Copy it over what the home has, as the program's user; BoxError where that fails."""
        await ground.access.note("home", {"directory": str(self.directory), "target": self.target})
        command = f'cp -R {shlex.quote(self.target)}/. "$HOME"/'
        outcome = await ground.room.box.execute(ExecRequest(command, WORKDIR, COPY_S))
        if outcome.error is not None or outcome.data["exit_code"] != 0:
            said = outcome.error or str(outcome.data["head"])[:500]
            raise BoxError(f"--home {self.directory}: it could not be copied into the box: {said}")
