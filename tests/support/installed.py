"""An organisation's policy, installed the way an administrator does it, below a root of its own."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.policy.public_keys import PublicKey
from orchestrator.policy.signing import PolicySigner, generate_key

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


class Installation:
    """Layers below ``root``; the folder's owner is whoever runs the tests."""

    def __init__(self, root: Path) -> None:
        self.folder = OwnedFolder(root, owner=os.geteuid())
        self.path = self.folder.path
        self.path.mkdir(parents=True, mode=0o755)
        for made in (self.path.parent, self.path):
            made.chmod(0o755)
        self.key_file = root / "admin.key"
        self.public: PublicKey = generate_key(self.key_file, None)
        self.signer = PolicySigner.load(self.key_file, lambda: b"")

    def install(self, layer="org", text="limits: {steps: 7}", serial=1):
        """Sign and put in place; returns the policy's path."""
        path = self.put(layer, text)
        self.sign(layer, serial)
        self.write(f"{layer}.pub", f"{self.public.text}\n".encode())
        return path

    def put(self, layer, text):
        """Put a policy in place and leave its signature as it is."""
        return self.write(f"{layer}.yaml", f"version: 1\nname: {layer}\n{text}\n".encode())

    def sign(self, layer, serial=1, **changed):
        """Sign what is in place; ``changed`` fields are put in afterwards, unsigned."""
        data = (self.path / f"{layer}.yaml").read_bytes()
        signed = self.signer.sign(data, layer=layer, serial=serial, now=NOW)
        facts = signed.model_dump() | changed
        return self.write(f"{layer}.yaml.sig", json.dumps(facts, indent=2).encode())

    def write(self, name, data):
        path = self.path / name
        path.write_bytes(data)
        path.chmod(0o644)
        return path
