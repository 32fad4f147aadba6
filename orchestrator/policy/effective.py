"""What holds when all layers are put together: settings by a table, votes kept per layer.

Numbers: the smallest. ``hidden``, ``protected``, ``require``: the union. Allow lists
(``models.allow``, ``files.read_roots``, ``network.packages``, ``approvals.scopes``): the
intersection. ``workspace.mode``: the most closed. ``image``, ``runtime``, ``services``: the highest
layer that sets them, never a project. Switches: the safer position (``home``: session,
``project_image``: deny). So no layer can loosen what another one set, and a project's file only
takes away from what holds without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.policy.box_models import BoxModels
from orchestrator.policy.document import Control, Vote, WorkspaceMode
from orchestrator.policy.globs import name_glob
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.network_rules import NetworkRule
from orchestrator.policy.yaml_nodes import Place
from orchestrator.schema.ids import Digest


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a setting's value comes from."""

    layer: str
    """A layer's name, or ``built-in``."""
    place: Place | None


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The box; sizes in bytes."""

    image: str | None
    """None means the image that belongs to this version."""
    runtime: str | None
    """None means the engine's default."""
    cpus: float
    memory: int
    pids: int
    disk: int
    file_size: int
    read_only_root: bool
    exec_record: bool
    tmpfs: Mapping[str, int]
    home: Literal["session", "project"]
    project_image: Literal["ask", "deny"]
    prepare_packages: tuple[str, ...]
    prepare_commands: tuple[str, ...]
    require: tuple[Control, ...]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """A container beside the box; memory in bytes, times in seconds."""

    image: str
    command: tuple[str, ...]
    """Empty for the image's own."""
    environment: Mapping[str, str]
    port: int
    within: float
    memory: int
    pids: int


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The project's directory; globs are relative to it and match without regard to case."""

    mode: WorkspaceMode
    modes: tuple[WorkspaceMode, ...]
    """What a session may choose instead; anything else is refused."""
    add_dirs: Literal["allow", "deny"]
    protected: tuple[str, ...]
    hidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """What may leave the box; ``judge_egress`` says what that comes to for one request."""

    default: Vote
    packages: tuple[str, ...]
    """Clients that every layer with a list names."""
    packages_private: tuple[str, ...]
    """Ranges of every layer with a list; a verdict's terms say which hold."""
    rules: tuple[tuple[str, NetworkRule], ...]
    """Each with the name of its layer."""
    max_upload: int | None
    """Bytes of the whole session; the smallest of all layers'."""
    max_download: int | None


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Where a run ends; times in seconds. None: no layer limits it."""

    steps: int | None
    tokens: int | None
    cost_usd: float | None
    cost_usd_per_day: float | None
    """Of all this user's sessions, by the day in UTC."""
    wall_time: float | None
    command_time: float
    tool_calls_per_minute: int | None
    repeat: int | None


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """Questions."""

    timeout: float
    """Seconds until no answer is a no."""
    scopes: tuple[str, ...]
    questions_per_hour: int
    yolo: Literal["allow", "deny"]
    """Whether a blanket yes may answer at all."""


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """Everything the harness takes from policy."""

    name: str
    digest: Digest
    """SHA-256 of the layers' canonical form."""
    layers: tuple[Layer, ...]
    """Highest first."""
    box: BoxPaths
    sandbox: SandboxSettings
    services: Mapping[str, ServiceSettings]
    """By name."""
    workspace: WorkspaceSettings
    network: NetworkSettings
    limits: LimitSettings
    approvals: ApprovalSettings
    models_allow: tuple[tuple[str, ...], ...]
    """One list of globs a layer that has one; a model must match in each."""
    box_models: BoxModels
    """What programs in the box may ask for."""
    read_roots: tuple[str, ...]
    unexpected: Literal["report", "end"]
    """What a command's start of a program that was not foreseen leads to."""
    audit_sign: bool
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """By dotted key: what decided a setting."""

    def model_allowed(self, model: str) -> bool:
        """Say whether every layer with a list allows the model; without any list none is."""
        return bool(self.models_allow) and all(
            any(name_glob(glob).match(model) for glob in globs) for globs in self.models_allow
        )
