"""A policy file's shape: every section, every key, what it means. Every key may be left out.

A left-out key takes no part: it is inherited from ``extends``, or does not vote. The JSON Schema
that editors use comes from here, so a key's docstring is its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from orchestrator.policy.globs import check_relative_glob
from orchestrator.policy.models_section import Models
from orchestrator.policy.network_rules import NetworkRule, PrivateRange
from orchestrator.policy.rules import (
    CommandRule,
    FileRule,
    PathGlob,
    Section,
    Text,
    Word,
)
from orchestrator.policy.units import Duration, Size, parse_duration
from orchestrator.schema.packages import Ecosystem

Vote = Literal["allow", "ask", "deny"]
Default = Literal["allow", "ask", "deny", "delegate"]
"""``delegate``: this policy does not vote; another layer must."""

Control = Literal[
    "seccomp",
    "no_new_privileges",
    "no_network",
    "non_root",
    "pids_limit",
    "memory_limit",
    "read_only_root",
    "no_capabilities",
    "cpu_limit",
    "masked_paths",
    "private_namespaces",
    "server_out_of_reach",
    "no_devices",
    "expected_mounts",
    "disk_watch",
    "exec_record",
    "runtime_not_known_bad",
    "gvisor",
]
WorkspaceMode = Literal["none", "copy", "overlay", "bind"]
"""From the most closed to the most open."""

BoxPath = Annotated[str, StringConstraints(pattern=r"^/[^\x00]*$", max_length=1000)]


def _relative(value: Any) -> Any:
    if isinstance(value, str):
        check_relative_glob(value)
    return value


WorkspaceGlob = Annotated[PathGlob, BeforeValidator(_relative)]


class Prepare(Section):
    """Steps that root takes on the image once, with the network that the policy's rules allow."""

    packages: tuple[Word, ...] | None = None
    """Debian packages, fetched with apt, which ``network.packages`` must have."""
    commands: tuple[Text, ...] | None = None
    """Command lines for the image's ``/bin/sh``, one after the other."""


class Sandbox(Section):
    """The container: what it is made of and what it may use."""

    image: Word | None = None
    """Image the box starts from; none means the one that belongs to this version."""
    runtime: Word | None = None
    """OCI runtime such as ``runc`` or ``runsc``; none means the engine's own default."""
    cpus: Annotated[float, Field(gt=0, le=1024)] | None = None
    """Processors it may use."""
    memory: Size | None = None
    """Memory and swap together."""
    pids: Annotated[int, Field(ge=16, le=100_000)] | None = None
    """Processes and threads."""
    disk: Size | None = None
    """Bytes that may be written to workspace and scratch together."""
    file_size: Size | None = None
    """Largest file a command may write."""
    read_only_root: bool | None = None
    """The image's files cannot be changed."""
    exec_record: bool | None = None
    """Programs that commands start are recorded, where the kernel can do it."""
    tmpfs: Mapping[BoxPath, Size] | None = None
    """Scratch directories in memory, and their sizes."""
    home: Literal["session", "project"] | None = None
    """The home directory in the box: new for each session, or one that a project's sessions share."""
    project_image: Literal["ask", "deny"] | None = None
    """The image or Dockerfile that a project describes: asked about once, or never used."""
    prepare: Prepare | None = None
    """What is put on the image beforehand; done once and kept."""
    require: tuple[Control, ...] | None = None
    """Controls that are proved in the box at start; without them no session."""


ServiceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,30}$")]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Service(Section):
    """A container beside the box, such as a database; only the box can reach it, at 127.0.0.1."""

    image: Word
    """An image that the engine has."""
    command: tuple[Word, ...] | None = None
    """Arguments in place of the image's own."""
    environment: Mapping[VariableName, str] | None = None
    """Variables; no secrets, the box may read what the service tells."""
    port: Annotated[int, Field(ge=1, le=65_535)]
    """The session begins when this port takes connections."""
    within: Duration | None = None
    """How long that may take; a minute when left out."""
    memory: Size | None = None
    """Memory and swap together; 1GiB when left out."""
    pids: Annotated[int, Field(ge=16, le=100_000)] | None = None
    """Processes and threads; 256 when left out."""


class Workspace(Section):
    """How the project's directory gets into the box and back."""

    mode: WorkspaceMode | None = None
    """``overlay`` and ``copy`` bring changes back by review, ``bind`` is live, ``none`` is empty."""
    modes: tuple[WorkspaceMode, ...] | None = None
    """Modes that may be chosen for a session instead; none given means none more open."""
    add_dirs: Literal["allow", "deny"] | None = None
    """A session may be given further directories of the host to read."""
    protected: tuple[WorkspaceGlob, ...] | None = None
    """Paths that programs on the host act on: a write asks first, apply wants an explicit yes."""
    hidden: tuple[WorkspaceGlob, ...] | None = None
    """Paths that are absent in the box, and that file tools refuse."""


class FileAccess(Section):
    """Votes on paths."""

    default: Default | None = None
    """Vote where no rule matches."""
    rules: tuple[FileRule, ...] | None = None
    """Rules; the strictest that matches wins."""


class Files(Section):
    """What may be read and written, judged on the path asked for and on where it lands."""

    read: FileAccess | None = None
    """Reading, listing and searching."""
    write: FileAccess | None = None
    """Creating, replacing and editing; also what commands are seen to write."""
    read_roots: tuple[BoxPath, ...] | None = None
    """Directories of the image that file tools may read besides the workspace."""


class RiskVote(Section):
    """A vote on one risk class, apart for its plain and its grave cases."""

    normal: Default
    """Where the effect is bounded."""
    high: Default
    """Where it is not: deletes of root, home or outside the workspace, devices, code out of sight."""


def _both(value: Any) -> Any:
    return {"normal": value, "high": value} if isinstance(value, str) else value


RiskChoice = Annotated[RiskVote, BeforeValidator(_both, json_schema_input_type=Default | RiskVote)]


class Risks(Section):
    """Votes on what reading a command finds; a class left out does not vote."""

    destructive: RiskChoice | None = None
    """Deletes or overwrites what cannot be brought back."""
    publishes: RiskChoice | None = None
    """Changes systems outside: pushes, package and image uploads, database writes."""
    remote_code: RiskChoice | None = None
    """Runs code that comes from the network."""
    privilege: RiskChoice | None = None
    """Changes user, capabilities or the container engine."""
    persistence: RiskChoice | None = None
    """Plants what runs later: hooks, start-up files, schedules."""
    secrets: RiskChoice | None = None
    """Reads keys or other processes' environments."""
    upload: RiskChoice | None = None
    """Sends file content out."""
    opaque: RiskChoice | None = None
    """Cannot be read statically: computed program names, decode-and-run, broken syntax."""
    exhaustion: RiskChoice | None = None
    """Eats processes, memory or disk, or kills broadly."""
    evasion: RiskChoice | None = None
    """Hides its text: control, bidirectional or invisible characters, padding."""


class Commands(Section):
    """What command lines may do; every simple command, redirection and nested script is judged."""

    default: Default | None = None
    """Vote on a simple command that no rule matches."""
    risks: Risks | None = None
    """Votes by risk class."""
    rules: tuple[CommandRule, ...] | None = None
    """Rules; the strictest that matches wins."""
    unexpected: Literal["report", "end"] | None = None
    """What happens when a command starts a program that would have been asked about: it is
    reported, or everything that the command started is ended as well."""


class Network(Section):
    """What may leave the box: by the host's proxy alone, each request judged and recorded."""

    default: Default | None = None
    """Vote on a request that no rule matches. ``allow`` means public names; what is near, and
    addresses, still need a rule that names them."""
    packages: tuple[Ecosystem, ...] | None = None
    """Package clients whose own configured hosts may be read from, by GET and HEAD."""
    packages_private: tuple[PrivateRange, ...] | None = None
    """Address ranges that those hosts may have besides public ones: a mirror in your network."""
    rules: tuple[NetworkRule, ...] | None = None
    """Rules; the strictest that matches wins."""
    max_upload: Size | None = None
    """Bytes that all of a session may send."""
    max_download: Size | None = None
    """Bytes that all of a session may get."""


class Limits(Section):
    """Where a run ends. With several layers the smallest holds."""

    steps: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Model turns for each thing said."""
    tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """Tokens for each thing said, cached ones too."""
    cost_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """US dollars of one session, however often it is resumed."""
    cost_usd_per_day: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """US dollars of all your sessions and their boxes in one day, UTC."""
    wall_time: Duration | None = None
    """Time worked on each thing said."""
    command_time: Duration | None = None
    """The longest time-out that one command may ask for."""
    tool_calls_per_minute: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Tool calls in any minute."""
    repeat: Annotated[int, Field(ge=2, le=1000)] | None = None
    """The same call with the same result, this many times in a row."""


def _scope(value: Any) -> Any:
    if isinstance(value, str) and value not in {"once", "session", "project"}:
        try:
            parse_duration(value)
        except ValueError:
            raise ValueError(
                f"expected once, session, project or a duration such as 30m, got {value!r}"
            ) from None
    return value


class Approvals(Section):
    """How long a question waits, and how far a yes may reach."""

    timeout: Duration | None = None
    """Time after which no answer is a no."""
    scopes: tuple[Annotated[Word, BeforeValidator(_scope)], ...] | None = None
    """``once``, ``session``, ``project`` or a duration, the narrowest offered first."""
    questions_per_hour: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Questions that a run may ask in an hour; more are a no that asks nobody."""
    yolo: Literal["allow", "deny"] | None = None
    """``--yolo``, and recorded answers that name neither the exact command nor its digest."""


class Audit(Section):
    """The record of a session."""

    sign: bool | None = None
    """Sign the chain's checkpoints."""


class PolicyDocument(Section):
    """One policy: a file, or a file with all it extends."""

    version: Literal[1]
    """Version of this format."""
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    """Shown in decisions and records."""
    description: Text = ""
    """What it is for, in a sentence."""
    extends: tuple[Word, ...] = Field(default=(), max_length=16)
    """Shipped policies by name, or paths from this file's folder; parents first."""
    sandbox: Sandbox | None = None
    """The container."""
    services: Annotated[Mapping[ServiceName, Service], Field(max_length=8)] | None = None
    """Containers beside the box, by name."""
    workspace: Workspace | None = None
    """The project's directory."""
    tools: Mapping[Word, Default] | None = None
    """Votes by tool name or glob; ``default`` for all others."""
    files: Files | None = None
    """Paths."""
    commands: Commands | None = None
    """Command lines."""
    network: Network | None = None
    """What leaves the box."""
    models: Models | None = None
    """Models."""
    limits: Limits | None = None
    """Limits of a run."""
    approvals: Approvals | None = None
    """Questions."""
    audit: Audit | None = None
    """The record."""
