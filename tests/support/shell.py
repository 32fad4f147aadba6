"""The command line in a directory whose sessions' boxes are played."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from tests.support import warm
from tests.support.workspaces import Desk

ROOT = Path(__file__).parents[2]


class Shell:
    """The command line in a directory, with a state of its own."""

    def __init__(self, desk: Desk, home: Path) -> None:
        self.desk = desk
        self.env = {
            **{key: os.environ[key] for key in ("PATH", "DOCKER_HOST") if key in os.environ},
            "HOME": str(home),
            "GLOVEBOX_STATE": str(desk.paths.state),
            "PYTHONPATH": str(ROOT),
        }

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return warm.run(arguments, cwd=self.desk.project, env=self.env)

    def work(self, script: str) -> str:
        """Let a session's box run a script; return the session, whose chain is there as in a run."""
        session = self.desk.work(script).site.record.session
        self.chain(session)
        return session

    def chain(self, session: str) -> None:
        paths = self.desk.paths
        AuditLog.create(
            paths.audit_log(session),
            session=session,
            genesis={"policy_digest": "sha256:x", "image_digest": "sha256:y"},
            signer=Signer.load(paths.keys),
        ).close()

    def recorded(self, session: str) -> list[tuple[str, dict]]:
        """Return the chain's records that are about changes."""
        lines = self.desk.paths.audit_log(session).read_text().splitlines()
        records = [json.loads(line) for line in lines]
        kinds = {"apply_intent", "apply_outcome", "discard"}
        return [(r["type"], r["body"]) for r in records if r["type"] in kinds]

    @staticmethod
    def command(*arguments: str) -> list[str]:
        program = "from orchestrator.cli.main import main; main()"
        return [sys.executable, "-c", program, *arguments]
