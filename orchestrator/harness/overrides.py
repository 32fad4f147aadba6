"""Flags and settings that a layer does not let stand in the place of its own word."""

from __future__ import annotations

from orchestrator.errors import ConfigError
from orchestrator.harness.options import RunOptions
from orchestrator.policy.effective import EffectivePolicy

_BINDING = frozenset({"org", "team"})
"""Layers whose choice of an image a flag does not replace."""


def refuse_overrides(options: RunOptions, policy: EffectivePolicy) -> None:
    """Raise ConfigError for a flag or setting that would stand in the place of a layer's word."""
    if options.yolo and policy.approvals.yolo == "deny":
        raise ConfigError(
            f"--yolo: expected none, approvals.yolo is deny ({_origin(policy, 'approvals.yolo')})",
            hint="leave it out; asks are answered one by one",
        )
    origin = policy.origins.get("sandbox.image")
    binding = origin is not None and origin.layer in _BINDING
    if binding and options.image not in {None, policy.sandbox.image}:
        raise ConfigError(
            f"--image {options.image}: expected {policy.sandbox.image} "
            f"({_origin(policy, 'sandbox.image')})",
            hint="leave it out; a flag or setting does not replace that layer's image",
        )


def check_model(policy: EffectivePolicy, model: str) -> None:
    """Raise ConfigError for a model that some layer does not allow."""
    if not policy.model_allowed(model):
        raise ConfigError(
            f"model {model!r}: policy {policy.name} does not allow it",
            hint=f"models.allow: {[list(globs) for globs in policy.models_allow]}",
        )


def _origin(policy: EffectivePolicy, key: str) -> str:
    origin = policy.origins[key]
    return f"{origin.layer} {origin.place}" if origin.place else origin.layer
