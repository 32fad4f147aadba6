"""The combination table: many layers' settings into the one that holds, with where it comes from.

Every row can only tighten. A setting that no layer makes takes the built-in value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from orchestrator.policy.document import Service, WorkspaceMode
from orchestrator.policy.effective import (
    ApprovalSettings,
    EffectivePolicy,
    LimitSettings,
    NetworkSettings,
    Origin,
    SandboxSettings,
    ServiceSettings,
    WorkspaceSettings,
)
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.schema.decision import STRICTNESS
from orchestrator.schema.ids import Digest

_GIB = 2**30
_MODES: tuple[WorkspaceMode, ...] = ("none", "copy", "overlay", "bind")

_T = TypeVar("_T")
Pick = Callable[[Sequence[_T]], _T]


class _Table:
    """Takes each setting from the layers, and notes its origin."""

    def __init__(self, layers: tuple[Layer, ...]) -> None:
        self._layers = layers
        self.origins: dict[str, Origin] = {}

    def given(self, key: str) -> list[tuple[Layer, Any]]:
        """Return every layer's value at a dotted key, highest layer first."""
        found = []
        for layer in self._layers:
            value: Any = layer.document
            for part in key.split("."):
                value = getattr(value, part, None)
            if value is not None:
                found.append((layer, value))
        return found

    def one(self, key: str, pick: Pick[Any], built_in: Any) -> Any:
        """Return the value that ``pick`` takes from what the layers say."""
        given = self.given(key)
        if not given:
            self.origins[key] = Origin("built-in", None)
            return built_in
        value = pick([item for _, item in given])
        layer = next(layer for layer, item in given if item == value)
        self._note(key, layer)
        return value

    def union(self, key: str) -> tuple[Any, ...]:
        """Return everything any layer lists."""
        given = self.given(key)
        for layer, _ in given:
            self._note(key, layer)
        return tuple(dict.fromkeys(item for _, items in given for item in items))

    def common(self, key: str, built_in: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what every layer with a list lists, in the highest one's order."""
        given = self.given(key)
        if not given:
            self.origins[key] = Origin("built-in", None)
            return built_in
        first, *others = (items for _, items in given)
        self._note(key, given[0][0])
        return tuple(item for item in first if all(item in items for items in others))

    def _note(self, key: str, layer: Layer) -> None:
        self.origins[key] = Origin(layer.name, layer.place_of(*key.split(".")))


def combine(
    layers: Iterable[Layer], *, name: str, digest: Digest, box: BoxPaths
) -> EffectivePolicy:
    """Return what holds under all layers, given highest first."""
    ordered = tuple(layers)
    table = _Table(ordered)
    return EffectivePolicy(
        name=name,
        digest=digest,
        layers=ordered,
        box=box,
        sandbox=_sandbox(table),
        services=_services(table),
        workspace=_workspace(table),
        network=_network(table),
        limits=_limits(table),
        approvals=ApprovalSettings(
            timeout=table.one("approvals.timeout", min, 600.0),
            scopes=table.common("approvals.scopes", ("once",)),
            questions_per_hour=table.one("approvals.questions_per_hour", min, 60),
        ),
        models_allow=tuple(globs for _, globs in table.given("models.allow")),
        models_in_box=table.one("models.in_box", _deny_wins, "deny"),
        read_roots=table.common("files.read_roots", ()),
        unexpected=table.one("commands.unexpected", _end_wins, "report"),
        audit_sign=table.one("audit.sign", any, True),
        origins=_with_models(table),
    )


def _sandbox(table: _Table) -> SandboxSettings:
    return SandboxSettings(
        image=table.one("sandbox.image", _first, None),
        runtime=table.one("sandbox.runtime", _first, None),
        cpus=table.one("sandbox.cpus", min, 2.0),
        memory=table.one("sandbox.memory", min, 4 * _GIB),
        pids=table.one("sandbox.pids", min, 512),
        disk=table.one("sandbox.disk", min, 10 * _GIB),
        file_size=table.one("sandbox.file_size", min, 4 * _GIB),
        read_only_root=table.one("sandbox.read_only_root", any, True),
        exec_record=table.one("sandbox.exec_record", any, True),
        tmpfs=_tmpfs(table),
        home=table.one("sandbox.home", _session_wins, "session"),
        project_image=table.one("sandbox.project_image", _never_wins, "ask"),
        prepare_packages=table.one("sandbox.prepare.packages", _first, ()),
        prepare_commands=table.one("sandbox.prepare.commands", _first, ()),
        require=table.union("sandbox.require"),
    )


def _services(table: _Table) -> dict[str, ServiceSettings]:
    given: Mapping[str, Service] = table.one("services", _first, {})
    return {
        name: ServiceSettings(
            image=service.image,
            command=service.command or (),
            environment=dict(service.environment or {}),
            port=service.port,
            within=service.within or 60.0,
            memory=service.memory or _GIB,
            pids=service.pids or 256,
        )
        for name, service in given.items()
    }


def _workspace(table: _Table) -> WorkspaceSettings:
    mode = table.one("workspace.mode", lambda modes: min(modes, key=_MODES.index), "overlay")
    return WorkspaceSettings(
        mode=mode,
        modes=table.common("workspace.modes", _MODES[: _MODES.index(mode) + 1]),
        add_dirs=table.one("workspace.add_dirs", _deny_wins, "allow"),
        protected=table.union("workspace.protected"),
        hidden=table.union("workspace.hidden"),
    )


def _tmpfs(table: _Table) -> dict[str, int]:
    """Return every directory with the smallest size any layer gives it."""
    sizes: dict[str, int] = {}
    for layer, given in table.given("sandbox.tmpfs"):
        for target, size in given.items():
            sizes[target] = min(size, sizes.get(target, size))
        table.origins["sandbox.tmpfs"] = Origin(layer.name, layer.place_of("sandbox", "tmpfs"))
    return sizes or {"/tmp": _GIB}  # noqa: S108 - inside the box


def _network(table: _Table) -> NetworkSettings:
    votes = [vote for _, vote in table.given("network.default") if vote != "delegate"]
    table.one("network.default", _first, "deny")
    return NetworkSettings(
        default=max(votes, key=STRICTNESS.__getitem__) if votes else "deny",
        packages=table.common("network.packages", ()),
        rules=tuple(
            (layer.name, rule) for layer, rules in table.given("network.rules") for rule in rules
        ),
    )


def _limits(table: _Table) -> LimitSettings:
    return LimitSettings(
        steps=table.one("limits.steps", min, None),
        tokens=table.one("limits.tokens", min, None),
        cost_usd=table.one("limits.cost_usd", min, None),
        wall_time=table.one("limits.wall_time", min, None),
        command_time=table.one("limits.command_time", min, 600.0),
        tool_calls_per_minute=table.one("limits.tool_calls_per_minute", min, None),
        repeat=table.one("limits.repeat", min, None),
    )


def _with_models(table: _Table) -> dict[str, Origin]:
    given = table.given("models.allow")
    if given:
        layer = given[0][0]
        table.origins["models.allow"] = Origin(layer.name, layer.place_of("models", "allow"))
    return table.origins


def _deny_wins(votes: Sequence[str]) -> str:
    return "deny" if "deny" in votes else "allow"


def _end_wins(ways: Sequence[str]) -> str:
    return "end" if "end" in ways else "report"


def _session_wins(homes: Sequence[str]) -> str:
    return "session" if "session" in homes else "project"


def _never_wins(votes: Sequence[str]) -> str:
    return "deny" if "deny" in votes else "ask"


def _first(values: Sequence[Any]) -> Any:
    return values[0]
