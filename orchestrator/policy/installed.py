"""The org and team layers in ``/etc/glovebox``: mandatory once installed, verified, or no start.

A layer is installed as soon as one of its three files is there: the policy, its signature, the
pinned key. From then on all three must be, whole and owned by root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.errors import PolicyError
from orchestrator.policy.compile import layer_of_text
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.policy.public_keys import MAX_KEYS, PublicKey, parse_keys
from orchestrator.policy.serials import check_serial, remember_serial
from orchestrator.policy.signature import (
    MAX_SIGNATURE,
    SUFFIX,
    LayerSource,
    SignedLayer,
    check_signature,
)
from orchestrator.policy.yaml_nodes import MAX_BYTES
from orchestrator.schema.ids import digest_of

SYSTEM = OwnedFolder()
"""``/etc/glovebox``."""

_LAYERS: tuple[SignedLayer, ...] = ("org", "team")
_KNOWN = frozenset(f"{layer}.yaml{end}" for layer in _LAYERS for end in ("", SUFFIX))
_POLICY_LIKE = (".yaml", ".yml", SUFFIX)


def installed_layers(
    folder: OwnedFolder, *, search: Path, state: Path | None, box: BoxPaths
) -> Iterator[Layer]:
    """Yield the verified layers, the highest first; PolicyError where one does not hold.

    ``state`` is where the serials seen are kept; None compares and keeps none.
    """
    entries = folder.entries()
    _refuse_ignored(folder, entries)
    for layer in _LAYERS:
        if entries & {f"{layer}.yaml", f"{layer}.yaml{SUFFIX}", key_file(layer)}:
            yield _verified(folder, layer, search=search, state=state, box=box)


def key_file(layer: SignedLayer) -> str:
    """Return the name of a layer's pinned keys."""
    return f"{layer}.pub"


def pinned_keys(folder: OwnedFolder, layer: SignedLayer) -> tuple[PublicKey, ...]:
    """Return the keys that may sign a layer; PolicyError where none is pinned."""
    name = key_file(layer)
    return parse_keys(folder.read(name, limit=MAX_KEYS), file=str(folder.path / name))


def _verified(
    folder: OwnedFolder, name: SignedLayer, *, search: Path, state: Path | None, box: BoxPaths
) -> Layer:
    file = str(folder.path / f"{name}.yaml")
    keys = pinned_keys(folder, name)
    data = folder.read(f"{name}.yaml", limit=MAX_BYTES)
    signature = folder.read(f"{name}.yaml{SUFFIX}", limit=MAX_SIGNATURE)
    signed = check_signature(data, signature, keys, layer=name, file=file)
    if state is not None:
        check_serial(signed, file=file, state=state)
    layer = layer_of_text(name, data, file=file, search=search, box=box)
    if state is not None:
        remember_serial(signed, state=state)
    return replace(layer, source=LayerSource(file, digest_of(data), signed))


def _refuse_ignored(folder: OwnedFolder, entries: frozenset[str]) -> None:
    """Refuse a policy under a name that nothing reads: its owner believes that it holds."""
    for name in sorted(entries - _KNOWN):
        if name.endswith(_POLICY_LIKE):
            raise PolicyError(
                f"{folder.path / name}: no layer has this name, so it would be ignored; "
                f"expected {', '.join(sorted(_KNOWN))}",
                hint="as root: rename it, or move it elsewhere",
            )
