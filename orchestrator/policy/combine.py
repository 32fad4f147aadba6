"""The combination table: many layers' settings into the one that holds, with where it comes from.

Every row can only tighten. A setting that no layer makes takes the built-in value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from orchestrator.policy.addresses import common_ranges
from orchestrator.policy.box_models import BoxModels
from orchestrator.policy.document import Default, Service, Vote, WorkspaceMode
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
    """Takes each setting from the layers, and notes its origin.

    A project's file counts as a filter alone: what it says is held against the others, or the
    built-in value, and never stands in the place of something that nobody else said.
    """

    def __init__(self, layers: tuple[Layer, ...]) -> None:
        self.layers = layers
        self.origins: dict[str, Origin] = {}

    def given(self, key: str) -> list[tuple[Layer, Any]]:
        """Return every layer's value at a dotted key, highest layer first."""
        return given_by(self.layers, key)

    def own(self, key: str) -> list[tuple[Layer, Any]]:
        """Return what the layers but the project's say."""
        return [(layer, value) for layer, value in self.given(key) if layer.name != "project"]

    def one(self, key: str, pick: Pick[Any], built_in: Any) -> Any:
        """Return the value that ``pick`` takes from what the layers say."""
        given = self.given(key)
        values = [value for _, value in given]
        if not self.own(key) and built_in is not None:
            values.append(built_in)
        return self._taken(key, given, pick(values) if values else built_in)

    def highest(self, key: str, built_in: Any) -> Any:
        """Return what the highest layer that may set it says."""
        own = self.own(key)
        return self._taken(key, own, own[0][1] if own else built_in)

    def union(self, key: str) -> tuple[Any, ...]:
        """Return everything any layer lists."""
        given = self.given(key)
        for layer, _ in given:
            self._note(key, layer)
        return tuple(dict.fromkeys(item for _, items in given for item in items))

    def common(self, key: str, built_in: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what every layer with a list lists, in the highest one's order."""
        own = self.own(key)
        first = self._taken(key, own, own[0][1] if own else built_in)
        lists = [items for _, items in self.given(key)]
        return tuple(item for item in first if all(item in items for items in lists))

    def _taken(self, key: str, given: Sequence[tuple[Layer, Any]], value: Any) -> Any:
        self.origins[key] = Origin("built-in", None)
        for layer, said in given:
            if said == value:
                self._note(key, layer)
                break
        return value

    def _note(self, key: str, layer: Layer) -> None:
        self.origins[key] = Origin(layer.name, layer.place_of(*key.split(".")))


def given_by(layers: Iterable[Layer], key: str) -> list[tuple[Layer, Any]]:
    """Return what each layer says at a dotted key, in their order; silent ones are left out."""
    found = []
    for layer in layers:
        value: Any = layer.document
        for part in key.split("."):
            value = getattr(value, part, None)
        if value is not None:
            found.append((layer, value))
    return found


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
            yolo=table.one("approvals.yolo", _deny_wins, "allow"),
        ),
        models_allow=_models_allow(table),
        box_models=_box_models(table),
        read_roots=table.common("files.read_roots", ()),
        unexpected=table.one("commands.unexpected", _end_wins, "report"),
        audit_sign=table.one("audit.sign", any, True),
        origins=_with_models(table),
    )


def _sandbox(table: _Table) -> SandboxSettings:
    return SandboxSettings(
        image=table.highest("sandbox.image", None),
        runtime=table.highest("sandbox.runtime", None),
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
        prepare_packages=table.highest("sandbox.prepare.packages", ()),
        prepare_commands=table.highest("sandbox.prepare.commands", ()),
        require=table.union("sandbox.require"),
    )


def _services(table: _Table) -> dict[str, ServiceSettings]:
    given: Mapping[str, Service] = table.highest("services", {})
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
    modes = table.common("workspace.modes", _up_to(mode))
    # A layer that sets a mode and no list means that nothing more open may be chosen.
    caps = [
        _up_to(layer.document.workspace.mode)
        for layer in table.layers
        if layer.document.workspace
        and layer.document.workspace.mode
        and layer.document.workspace.modes is None
    ]
    return WorkspaceSettings(
        mode=mode,
        modes=tuple(item for item in modes if all(item in cap for cap in caps)),
        add_dirs=table.one("workspace.add_dirs", _deny_wins, "allow"),
        protected=table.union("workspace.protected"),
        hidden=table.union("workspace.hidden"),
    )


def _up_to(mode: WorkspaceMode) -> tuple[WorkspaceMode, ...]:
    return _MODES[: _MODES.index(mode) + 1]


def _tmpfs(table: _Table) -> dict[str, int]:
    """Return every directory with the smallest size any layer gives it; a project adds none."""
    sizes: dict[str, int] = {}
    for _, given in table.own("sandbox.tmpfs"):
        for target, size in given.items():
            sizes[target] = min(size, sizes.get(target, size))
    sizes = sizes or {"/tmp": _GIB}  # noqa: S108 - inside the box
    for layer, given in table.given("sandbox.tmpfs"):
        for target, size in given.items():
            if size <= sizes.get(target, -1):
                sizes[target] = size
                place = layer.place_of("sandbox", "tmpfs", target)
                table.origins["sandbox.tmpfs"] = Origin(layer.name, place)
    return sizes


def _network(table: _Table) -> NetworkSettings:
    return NetworkSettings(
        default=table.one("network.default", _strictest, "deny"),
        packages=table.common("network.packages", ()),
        packages_private=table.one("network.packages_private", _ranges_of_all, ()),
        rules=tuple(
            (layer.name, rule)
            for layer, rules in table.given("network.rules")
            for rule in rules
            if layer.name != "project" or rule.effect != "allow"
        ),
        max_upload=table.one("network.max_upload", min, None),
        max_download=table.one("network.max_download", min, None),
    )


def _limits(table: _Table) -> LimitSettings:
    return LimitSettings(
        steps=table.one("limits.steps", min, None),
        tokens=table.one("limits.tokens", min, None),
        cost_usd=table.one("limits.cost_usd", min, None),
        cost_usd_per_day=table.one("limits.cost_usd_per_day", min, None),
        wall_time=table.one("limits.wall_time", min, None),
        command_time=table.one("limits.command_time", min, 600.0),
        tool_calls_per_minute=table.one("limits.tool_calls_per_minute", min, None),
        repeat=table.one("limits.repeat", min, None),
    )


def _models_allow(table: _Table) -> tuple[tuple[str, ...], ...]:
    """Return every layer's list; without one of another layer a project's allows nothing."""
    return (
        tuple(globs for _, globs in table.given("models.allow"))
        if table.own("models.allow")
        else ()
    )


def _box_models(table: _Table) -> BoxModels:
    session = _models_allow(table)
    own = tuple(tuple(globs) for _, globs in table.given("models.box.allow"))
    table.highest("models.box.allow", ())
    return BoxModels(
        in_box=table.one("models.in_box", _deny_wins, "deny"),
        allow=(*session, *own) if session else (),
        map=tuple(table.highest("models.box.map", {}).items()),
        remote=table.one("models.box.remote", _deny_wins, "deny"),
        max_tokens=table.one("models.box.max_tokens", min, None),
        tokens=table.one("models.box.tokens", min, None),
        cost_usd=table.one("models.box.cost_usd", min, None),
        requests_per_minute=table.one("models.box.requests_per_minute", min, None),
        tokens_per_day=table.one("models.box.tokens_per_day", min, None),
        cost_usd_per_day=table.one("models.box.cost_usd_per_day", min, None),
    )


def _with_models(table: _Table) -> dict[str, Origin]:
    given = table.own("models.allow")
    if given:
        layer = given[0][0]
        table.origins["models.allow"] = Origin(layer.name, layer.place_of("models", "allow"))
    return table.origins


def _strictest(votes: Sequence[Default]) -> Vote:
    """Return the strictest vote; nobody voting means no."""
    counted: list[Vote] = [vote for vote in votes if vote != "delegate"]
    return max(counted, key=STRICTNESS.__getitem__) if counted else "deny"


def _ranges_of_all(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(reduce(common_ranges, lists))


def _deny_wins(votes: Sequence[str]) -> str:
    return "deny" if "deny" in votes else "allow"


def _end_wins(ways: Sequence[str]) -> str:
    return "end" if "end" in ways else "report"


def _session_wins(homes: Sequence[str]) -> str:
    return "session" if "session" in homes else "project"


def _never_wins(votes: Sequence[str]) -> str:
    return "deny" if "deny" in votes else "ask"
