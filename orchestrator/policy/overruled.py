"""What layers say that does not hold, or not alone: the other half of ``policy show``. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from orchestrator.policy.combine import given_by
from orchestrator.policy.effective import EffectivePolicy, Origin
from orchestrator.policy.layer import Layer
from orchestrator.schema.decision import STRICTNESS

How = Literal["adds", "also", "refused", "overridden"]

_UNIONS = frozenset({"sandbox.require", "workspace.protected", "workspace.hidden"})
_LISTS = frozenset({"approvals.scopes", "files.read_roots", "network.packages", "workspace.modes"})
_HIGHEST = frozenset(
    {
        "sandbox.image",
        "sandbox.runtime",
        "sandbox.prepare.packages",
        "sandbox.prepare.commands",
        "services",
        "models.box.map",
    }
)
_WEIGHTS = {"delegate": -1} | {str(word): weight for word, weight in STRICTNESS.items()}


@dataclass(frozen=True, slots=True)
class Said:
    """One layer's word on a setting that another one decided, or that several make up."""

    how: How
    """``adds`` to a union; holds ``also``; ``refused`` items; ``overridden`` as a whole."""
    value: Any
    origin: Origin


def overruled(policy: EffectivePolicy, key: str, value: Any) -> Iterator[Said]:
    """Yield what layers say on a setting beside its effective ``value`` and where that is from."""
    decided = policy.origins.get(key)
    for layer, said in given_by(policy.layers, key):
        origin = Origin(layer.name, layer.place_of(*key.split(".")))
        if key in _LISTS:
            refused = tuple(item for item in said if item not in value)
            if refused:
                yield Said("refused", refused, origin)
        elif origin == decided:
            continue
        elif key in _UNIONS:
            yield Said("adds", said, origin)
        elif key in {"models.allow", "models.box.allow"}:
            yield Said("also", (said,), origin)
        elif layer.name == "project" and key in _HIGHEST:
            yield Said("refused", said, origin)
        elif said != value:
            yield Said("overridden", said, origin)


def lost_votes(
    layers: Sequence[Layer], votes: Mapping[tuple[int, str], tuple[str, ...]]
) -> dict[tuple[int, str], str]:
    """Return which votes do not count or are overridden, and the word for it.

    ``votes`` are by layer's index and key; each is one word, or two for a risk's two halves.
    """
    strictest: dict[str, list[int]] = {}
    for (index, key), words in votes.items():
        counted = [_weight(word, layers[index]) for word in words]
        known = strictest.setdefault(key, counted)
        strictest[key] = [max(pair) for pair in zip(known, counted, strict=True)]
    lost = {}
    for (index, key), words in votes.items():
        if layers[index].name == "project" and set(words) == {"allow"}:
            lost[index, key] = "no vote"
            continue
        below = [
            _weight(word, layers[index]) < most
            for word, most in zip(words, strictest[key], strict=True)
        ]
        if set(words) != {"delegate"} and any(below):
            lost[index, key] = "overridden" if all(below) else "overridden in part"
    return lost


def _weight(word: str, layer: Layer) -> int:
    return _WEIGHTS["delegate" if layer.name == "project" and word == "allow" else word]
