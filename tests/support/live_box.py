"""A container that stays, so that a session's box can be played turn by turn."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from orchestrator.engine.base_image import BASE
from orchestrator.engine.client import Engine
from orchestrator.workspace.workspace import Prepared

_PICTURE = r"""
exec 2> /dev/null  # of directories that let nobody in
cd /workspace
find . -mindepth 1 -printf '%P %y %m %U:%G %T@ %l\n' | LC_ALL=C sort
find . -type f -exec sha256sum -- {} + | LC_ALL=C sort
find . -type f -links +1 -printf '%i %P\n' | LC_ALL=C sort -k2 | awk '
  !($1 in n) { n[$1] = ++c } { i = $1; $1 = ""; print "linked", n[i], $0 }'
echo end of picture
"""


@dataclass
class LiveBox:
    """Runs scripts as the box's commands would."""

    engine: Engine
    prepared: Prepared
    name: str = ""

    def __enter__(self) -> Self:
        api = self.engine.api
        mounts = [
            {"Type": m.kind, "Source": m.source, "Target": m.target, "ReadOnly": m.read_only}
            for m in self.prepared.mounts
        ]
        created = api.create_container(
            BASE,
            ["sleep", "600"],
            user=f"{self.prepared.uid}:{self.prepared.gid}",
            working_dir=self.prepared.workdir,
            host_config=api.create_host_config(
                network_mode="none", cap_drop=["ALL"], mounts=mounts, init=True
            ),
            network_disabled=True,
        )
        self.name = created["Id"]
        api.start(self.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.engine.api.remove_container(self.name, force=True, v=True)

    def run(self, script: str) -> str:
        """Run a script to its end, which must be 0, and return its output."""
        api = self.engine.api
        made = api.exec_create(self.name, ["bash", "-c", script], workdir=self.prepared.workdir)
        output: str = api.exec_start(made["Id"]).decode("utf-8", "replace")
        code = api.exec_inspect(made["Id"])["ExitCode"]
        assert code == 0, f"{script}\n{output}"
        return output

    def picture(self) -> str:
        """Return all there is: names, types, modes, owners, times, targets, contents, links."""
        for _ in range(5):
            # Under load the engine was seen to end an exec's stream before its output came.
            found = self.run(_PICTURE)
            if found.endswith("end of picture\n"):
                return found
        raise AssertionError(f"the engine gave no whole picture: {found!r}")
