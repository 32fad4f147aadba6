"""The effective policy as a table: every setting, the line that decided it, and who was overruled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel

from orchestrator.policy.effective import EffectivePolicy, Origin
from orchestrator.policy.layer import Layer
from orchestrator.policy.network_shown import shown_rule
from orchestrator.policy.overruled import lost_votes, overruled
from orchestrator.policy.provenance import layer_facts
from orchestrator.policy.units import show_duration, show_size

_SIZES = frozenset(
    {
        "sandbox.memory",
        "sandbox.disk",
        "sandbox.file_size",
        "network.max_upload",
        "network.max_download",
    }
)
_DURATIONS = frozenset({"limits.wall_time", "limits.command_time", "approvals.timeout"})


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    key: str
    value: str
    origin: str
    """``layer file:line``, or ``built-in``."""
    note: str = ""
    """How a vote that lost, or another layer's word on a setting, counts."""
    beside: bool = False
    """It is another layer's word on the setting above."""


def settings_of(policy: EffectivePolicy) -> dict[str, Any]:
    """Return every combined setting by its dotted key, raw."""
    sections = {
        "sandbox": asdict(policy.sandbox),
        "workspace": asdict(policy.workspace),
        "network": {key: value for key, value in asdict(policy.network).items() if key != "rules"},
        "limits": asdict(policy.limits),
        "approvals": asdict(policy.approvals),
    }
    flat = {
        f"{section}.{key.replace('prepare_', 'prepare.')}": value
        for section, keys in sections.items()
        for key, value in keys.items()
    }
    flat["services"] = {name: asdict(service) for name, service in policy.services.items()}
    flat["models.allow"] = policy.models_allow
    flat |= _box_models(policy)
    flat["files.read_roots"] = policy.read_roots
    flat["audit.sign"] = policy.audit_sign
    return flat


def _box_models(policy: EffectivePolicy) -> dict[str, Any]:
    """Return what programs in the box may ask for; of lists those of its own section."""
    settings = asdict(policy.box_models)
    own = settings.pop("allow")[len(policy.models_allow) :]
    flat = {"models.in_box": settings.pop("in_box"), "models.box.allow": own}
    flat["models.box.map"] = dict(settings.pop("map"))
    return flat | {f"models.box.{key}": value for key, value in settings.items()}


def setting_rows(policy: EffectivePolicy) -> Iterator[Row]:
    """Yield the combined settings, each followed by what other layers say on it."""
    for key, value in settings_of(policy).items():
        origin = policy.origins.get(key, Origin("built-in", None))
        yield Row(key, _shown(key, value), _origin(origin))
        for said in overruled(policy, key, value):
            yield Row(
                key, _shown(key, _raw(said.value)), _origin(said.origin), said.how, beside=True
            )


def vote_rows(policy: EffectivePolicy) -> Iterator[Row]:
    """Yield each layer's votes, highest layer first; the strictest wins, those that lose say so."""
    layers = policy.layers
    votes = {
        (index, key): words for index, layer in enumerate(layers) for key, words, _ in _votes(layer)
    }
    lost = lost_votes(layers, votes)
    for index, layer in enumerate(layers):
        for key, words, loc in _votes(layer):
            text = words[0] if len(set(words)) == 1 else f"{words[0]}, high: {words[1]}"
            note = lost.get((index, key), "")
            yield Row(key, text, f"{layer.name} {layer.place_of(*loc)}", note)
        yield from _rule_rows(layer)


def as_data(policy: EffectivePolicy) -> dict[str, Any]:
    """Return the whole for a machine."""
    return {
        "name": policy.name,
        "digest": policy.digest,
        "layers": layer_facts(policy),
        "settings": {
            key: {
                "value": value,
                "layer": policy.origins.get(key, Origin("built-in", None)).layer,
                "place": _place(policy.origins.get(key)),
                "others": [
                    {
                        "how": said.how,
                        "value": _raw(said.value),
                        "layer": said.origin.layer,
                        "place": _place(said.origin),
                    }
                    for said in overruled(policy, key, value)
                ],
            }
            for key, value in settings_of(policy).items()
        },
        "votes": [asdict(row) for row in vote_rows(policy)],
    }


def _votes(layer: Layer) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield each key with its one vote, or a risk's two, and where it stands."""
    document = layer.document
    for tool, vote in (document.tools or {}).items():
        yield f"tools.{tool}", (vote,), ("tools", tool)
    for access, votes in (("read", layer.reads), ("write", layer.writes)):
        if votes.default is not None:
            loc = ("files", access, "default")
            yield ".".join(loc), (votes.default,), loc
    if document.commands is None:
        return
    if document.commands.default is not None:
        yield "commands.default", (document.commands.default,), ("commands", "default")
    risks = document.commands.risks
    for risk in type(risks).model_fields if risks else ():
        vote = getattr(risks, risk)
        if vote is not None:
            words = (vote.normal, vote.high)
            yield f"commands.risks.{risk}", words, ("commands", "risks", risk)


def _rule_rows(layer: Layer) -> Iterator[Row]:
    found: list[tuple[str, str, str]] = [
        ("commands", compiled.rule.id, compiled.rule.effect) for compiled in layer.rules_for(None)
    ]
    for access, votes in (("files.read", layer.reads), ("files.write", layer.writes)):
        found += [(access, rule.id, rule.effect) for rule, _ in votes.rules]
    network = layer.document.network
    found += [("network", rule.id, shown_rule(rule)) for rule in (network and network.rules) or ()]
    for section, rule_id, said in found:
        yield Row(
            f"{section}.rules.{rule_id}", said, f"{layer.name} {layer.place_of_rule(rule_id)}"
        )


def _shown(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key in _SIZES:
        return show_size(value)
    if key in _DURATIONS:
        return show_duration(value)
    if key == "sandbox.tmpfs":
        return ", ".join(f"{target} {show_size(size)}" for target, size in value.items())
    if key == "services":
        return ", ".join(f"{name} {service['image']}" for name, service in value.items()) or "none"
    if key == "models.box.map":
        return ", ".join(f"{glob} {model}" for glob, model in value.items()) or "none"
    if key in {"models.allow", "models.box.allow"}:
        return " and ".join(", ".join(globs) for globs in value) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) or "none" if isinstance(value, tuple) else str(value)


def _raw(value: Any) -> Any:
    """Return a layer's own value in the form that the combined one has."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {key: _raw(each) for key, each in value.items()}
    return value


def _origin(origin: Origin) -> str:
    return f"{origin.layer} {origin.place}" if origin.place else origin.layer


def _place(origin: Origin | None) -> str | None:
    return str(origin.place) if origin and origin.place else None
