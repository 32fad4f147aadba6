"""Which models a session asks, and for what."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.harness.options import RunOptions
from orchestrator.harness.overrides import check_model
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.schema.thinking import ThinkingLevel


@dataclass(frozen=True, slots=True)
class Roles:
    """Names as they are given to ``-m``."""

    main: str
    small: str | None = None
    """For titles, summaries and choices; None takes the main one."""
    fallback: tuple[str, ...] = ()
    """Asked in this order where the main one cannot be had."""
    thinking: ThinkingLevel | None = None
    """None leaves the model its own default."""

    @classmethod
    def of(cls, options: RunOptions) -> Roles:
        """Return what the options say."""
        return cls(options.model, options.small_model, options.fallback, options.thinking)

    def check(self, policy: EffectivePolicy) -> None:
        """Raise ConfigError for a model that some layer does not allow, whatever its role."""
        for name in (self.main, *([self.small] if self.small else []), *self.fallback):
            check_model(policy, name)
