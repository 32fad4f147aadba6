"""A pair of AWS-style keys, as one secret holds it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """What requests are signed with."""

    id: str
    key: str = field(repr=False)
    token: str = field(default="", repr=False)
    """Of temporary keys."""


def parse_aws_keys(secret: str) -> AwsKeys | None:
    """Return the keys of ``ID:KEY``, ``ID:KEY:TOKEN`` or a credential process's JSON; else None."""
    if secret.startswith("{"):
        return _from_json(secret)
    identity, _, rest = secret.partition(":")
    key, _, token = rest.partition(":")
    return AwsKeys(identity, key, token) if identity and key else None


def _from_json(secret: str) -> AwsKeys | None:
    try:
        found = json.loads(secret)
    except ValueError:
        return None
    parts = [found.get(name) or "" for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")]
    if not all(isinstance(part, str) for part in parts) or not all(parts[:2]):
        return None
    return AwsKeys(*parts)
