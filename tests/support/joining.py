"""One session that others can join, without an engine: scripted box, real audit, real sockets."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.control import control_socket
from orchestrator.harness.person import PersonalAccess
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.ids import SessionId

SESSION = SessionId("0123456789ab")
SECRET = "correct-horse-battery"
COMMANDS = {"bash": Reply("$ ", echoes=True), "ls": Reply("a b\n", exit_code=3)}
COMMANDS[f"serve --key {SECRET}"] = Reply(seconds=60.0)


@dataclass
class Joined:
    """A session that listens."""

    access: PersonalAccess
    box: ScriptedBox
    path: Path
    environ: dict[str, str]
    audit_file: Path

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the audit's bodies of some types."""
        lines = map(json.loads, self.audit_file.read_text().splitlines())
        return [line["body"] for line in lines if line["type"] in kinds]


def join(folder: Path, scene: Callable[[Joined], Awaitable[None]], **box: Any) -> None:
    """Bring a session up, play a scene beside it, and bring it down."""

    async def whole() -> None:
        await session(folder, scene, **box)

    anyio.run(whole)


async def session(folder: Path, scene: Callable[[Joined], Awaitable[None]], **box: Any) -> None:
    """As ``join``, in a loop that goes on after it."""
    with tempfile.TemporaryDirectory(prefix="gb-") as short:
        environ = {"XDG_RUNTIME_DIR": short}
        scripted = ScriptedBox(COMMANDS, **box)
        path = folder / "audit.jsonl"
        audit = AuditLog.create(
            path, session=SESSION, genesis={}, signer=Signer.load(folder / "keys")
        )
        access = PersonalAccess(
            scripted, audit, OutputFilter(Redactor({"k": SECRET})), folder / "recordings"
        )
        try:
            async with control_socket(SESSION, access, environ) as socket_path:
                with anyio.fail_after(20):
                    await scene(Joined(access, scripted, socket_path, environ, path))
        finally:
            audit.close()
