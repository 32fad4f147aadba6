"""Which layers a session is under, and who vouches for each: for the record."""

from __future__ import annotations

from typing import Any

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.load import policy_digest


def layer_facts(policy: EffectivePolicy) -> list[dict[str, Any]]:
    """Return the layers as data, highest first.

    ``digest`` names what a layer says; ``file`` and ``file_digest`` the exact bytes that org, team
    and project are held to; ``key``, ``serial`` and ``issued`` who signed them.
    """
    rows = []
    for layer in policy.layers:
        row: dict[str, Any] = {
            "layer": layer.name,
            "name": layer.document.name,
            "digest": policy_digest([layer]),
        }
        if layer.source is not None:
            row |= {"file": layer.source.file, "file_digest": layer.source.digest}
            if layer.source.signed is not None:
                row |= layer.source.signed.model_dump(include={"key", "serial", "issued"})
        rows.append(row)
    return rows
