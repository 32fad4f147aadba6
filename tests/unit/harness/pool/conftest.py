"""An offer whose box is a pair of sockets."""

import secrets
import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.engine.lease import Lease
from orchestrator.harness.pool.offer import Offer
from orchestrator.sandbox.handoff import HandedBox, Held
from orchestrator.schema.ids import SessionId
from orchestrator.schema.posture import Posture


@pytest.fixture
def offer(tmp_path):
    lifeline, calls = socket.socketpair()
    held = Held(lifeline, calls, 7)
    handed = HandedBox("c0ffee", {"image_digest": "sha256:1"}, held)
    posture = Posture({"seccomp": True}, {"uid": "1000"})
    made = Offer(
        SessionId(secrets.token_hex(6)), handed, posture, Lease.take(tmp_path / "lease"), "sha256:2"
    )
    with closing(made):
        yield made


@pytest.fixture
def short_directory():
    """A directory of the test's own; a socket's path may not be long, and pytest's are."""
    with tempfile.TemporaryDirectory(prefix="gb-") as folder:
        yield Path(folder)
