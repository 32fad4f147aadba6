"""What one run is asked to do; flags, variables and files are merged before this."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from orchestrator.errors import UsageError
from orchestrator.harness.preview import PreviewSpec
from orchestrator.schema.thinking import ThinkingLevel

OnAsk = Literal["deny", "stop"]
WorkspaceMode = Literal["overlay", "copy", "bind", "none"]

NO_MODEL = "none"
"""Stands where a model's name would: no model is asked from the host."""


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """Limits of one ``run`` or ``chat``; None leaves the policy's, a number can only lower it."""

    steps: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    wall_time_s: float | None = None
    used_tokens: int = 0
    """What the command used before the session was opened again."""
    used_cost_usd: float = 0.0

    def __post_init__(self) -> None:
        """Raise UsageError for an amount that nothing ever reaches: it would be no limit."""
        if self.cost_usd is not None and not math.isfinite(self.cost_usd):
            raise UsageError(
                f"--max-budget-usd: expected an amount in US dollars, got {self.cost_usd}",
                hint="leave it out for no limit of your own",
            )

    def after(self, tokens: int, cost_usd: float) -> LimitOptions:
        """Return them once the command has used so much more."""
        return replace(
            self,
            used_tokens=self.used_tokens + tokens,
            used_cost_usd=self.used_cost_usd + cost_usd,
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """One run."""

    prompt: str | None
    directory: Path
    """The host directory the agent works on; absolute and resolved."""
    model: str
    """``provider/name``, ``local`` or ``scripted:FILE``."""
    small_model: str | None = None
    """For titles, summaries and choices; None takes ``model``."""
    fallback: tuple[str, ...] = ()
    """Models that take over, in this order, where ``model`` cannot be had."""
    thinking: ThinkingLevel | None = None
    """None leaves the model its own default."""
    policies: tuple[str, ...] = ("default",)
    approve: str | None = None
    """``ask``, ``deny`` or the path of an answers file; None asks where there is a terminal."""
    on_ask: OnAsk = "deny"
    yolo: bool = False
    limits: LimitOptions = field(default_factory=LimitOptions)
    resume: str | None = None
    """A session id or a prefix of one."""
    resume_latest: bool = False
    """Go on with the newest session of the directory."""
    fork: bool = False
    """Go on with a copy of that session."""
    image: str | None = None
    workspace: WorkspaceMode | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables for commands; values that hold a secret are refused."""
    add_dirs: tuple[Path, ...] = ()
    """Further directories to read, absolute and resolved."""
    git_identity: Literal["host", "none"] = "host"
    """Whether git in the box commits under the name and address of the host's git."""
    previews: tuple[PreviewSpec, ...] = ()
    """Ports of the box to be reached from the host's loopback."""
    remarks: tuple[str, ...] = ()
    """What the person is told once the session has begun; safe text."""
    output_schema: Path | None = None
    """A file with the JSON Schema that the answer is to follow."""
    skill: str | None = None
    """The skill to begin with; ``off`` for none, whatever was said."""
    skill_files: Path | None = None
    """Folder with the files of all skills, for the box."""
    tools: tuple[str, ...] = ("read", "write", "edit", "bash")
