"""A policy's signature file: what it vouches for, and the check with a pinned key. Pure.

What is signed is the digest of the file's exact bytes, not of what they mean: a reader who compares
``sha256sum`` sees the same, comments count, and no second reading of YAML can differ from the first.
The statement itself is signed in its RFC 8785 form. ``signing`` makes what this module checks.
"""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

import rfc8785
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from orchestrator.errors import PolicyError
from orchestrator.policy.public_keys import PublicKey
from orchestrator.schema.ids import Digest, digest_of

SUFFIX = ".sig"
"""Of the signature that stands beside a policy file."""
MAX_SIGNATURE = 4096
"""Bytes of a signature file; a real one has about 400."""
MAX_SERIAL = 2**53 - 1
"""RFC 7493: beyond it a JSON reader may round."""
_CONTEXT = "glovebox policy signature v1"

SignedLayer = Literal["org", "team"]
KeyId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class PolicySignature(BaseModel):
    """The content of a signature file."""

    # Most machines have no signed policy, and none of them pays for the checks.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    version: Literal[1]
    layer: SignedLayer
    """The layer it may be installed as; another one's place is refused."""
    algorithm: Literal["ed25519"]
    key: KeyId
    """Id of the key that signed."""
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    """Of the policy file's exact bytes."""
    serial: Annotated[int, Field(ge=1, le=MAX_SERIAL)]
    """Grows with every signature, so that an old policy cannot come back."""
    issued: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    """When it was signed, in UTC; told, not judged."""
    signature: str
    """Over ``signed_bytes``, in base64."""

    def signed_bytes(self) -> bytes:
        """Return the canonical bytes under the signature; ``context`` keeps other uses apart."""
        facts = self.model_dump(exclude={"signature"})
        return rfc8785.dumps({"context": _CONTEXT, **facts})


def parse_signature(data: bytes, *, file: str) -> PolicySignature:
    """Return a signature file's content; PolicyError with the line of what is wrong in it."""
    twice = _given_twice(data)
    if twice:
        raise PolicyError(
            f"{file}:{_line_of(data, twice)}: {twice} is given twice",
            hint="sign the policy again with `glovebox policy sign`",
        )
    try:
        return PolicySignature.model_validate_json(data)
    except ValidationError as err:
        first = err.errors()[0]
        where = str(first["loc"][0]) if first["loc"] else ""
        raise PolicyError(
            f"{file}:{_line_of(data, where)}: this is no policy signature: "
            f"{where + ': ' if where else ''}{first['msg']}",
            hint="sign the policy again with `glovebox policy sign`",
        ) from err


def _given_twice(data: bytes) -> str:
    """Return a key that stands twice in an object: readers differ in which of the two counts."""
    found: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        names = [name for name, _ in pairs]
        found.extend(name for name in names if names.count(name) > 1)

    with suppress(ValueError, RecursionError):
        # What is no JSON is told of by whoever reads it next.
        json.loads(data, object_pairs_hook=note)
    return found[0] if found else ""


def check_signature(
    policy: bytes, data: bytes, keys: tuple[PublicKey, ...], *, layer: SignedLayer, file: str
) -> PolicySignature:
    """Return the signature of a policy's bytes; PolicyError unless one of ``keys`` vouches for them.

    ``data`` is the signature file's content, ``file`` the policy's path.
    """
    beside = file + SUFFIX
    found = parse_signature(data, file=beside)
    key = next((key for key in keys if key.id == found.key), None)
    if key is None:
        known = ", ".join(key.id for key in keys)
        raise PolicyError(
            f"{beside}:{_line_of(data, 'key')}: expected a signature by a pinned key ({known}), "
            f"got one by {found.key}",
            hint="sign with the key that is pinned, or have its owner pin the other one",
        )
    if not _holds(found, key):
        raise PolicyError(
            f"{beside}:{_line_of(data, 'signature')}: the signature does not hold: expected one "
            f"that {key.id} made over what stands in this file, got another",
            hint="it was changed after it was made; install policy and signature as they were "
            "signed, or sign again",
        )
    if found.layer != layer:
        raise PolicyError(
            f"{beside}:{_line_of(data, 'layer')}: expected a signature for the layer {layer}, "
            f"got one for {found.layer}",
            hint=f"sign it with --layer {layer}",
        )
    got = digest_of(policy)
    if found.digest != got:
        raise PolicyError(
            f"{file}:1: changed since it was signed: expected {found.digest}, got {got}",
            hint="install the file as it was signed, or sign it again with `glovebox policy sign`",
        )
    return found


@dataclass(frozen=True, slots=True)
class LayerSource:
    """The file that is a layer, as its exact bytes, and who vouches for it."""

    file: str
    digest: Digest
    """Of its bytes."""
    signed: PolicySignature | None = None


def _holds(found: PolicySignature, key: PublicKey) -> bool:
    # Only machines with an installed policy pay the 20 ms that this takes to load.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - slow to load
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - the same
        Ed25519PublicKey,
    )

    try:
        raw = base64.b64decode(found.signature, validate=True)
        Ed25519PublicKey.from_public_bytes(key.raw).verify(raw, found.signed_bytes())
    except (InvalidSignature, ValueError):
        return False
    return True


def _line_of(data: bytes, key: str) -> int:
    """Return the line on which a key of a JSON object stands, the first where it does not."""
    at = data.find(f'"{key}"'.encode()) if key else -1
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 1
