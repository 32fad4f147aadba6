"""Layers in, one text out, with what each costs and what was left out to fit. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.prompts.layer import LAYERS, Layer, Part
from orchestrator.schema.ids import Digest, digest_of

BYTES_A_TOKEN = 4
"""About; providers count anew and are believed."""
LEAST = 64
"""Tokens below which a shortened text says nothing any more, and is left out whole."""
CUT = "\n[… the rest was left out to fit]"
TRIMMED: tuple[Layer, ...] = ("output", "tools", "context")
"""What gives way, in this order; identity, safety and a skill never do."""


@dataclass(frozen=True, slots=True)
class PartUse:
    """One part as it stands in the text."""

    layer: Layer
    name: str
    source: str
    tokens: int
    """About."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A system prompt."""

    text: str
    parts: tuple[PartUse, ...]
    """In the order of the text."""
    trimmed: tuple[str, ...]
    """``layer:name`` of what was left out, and ``layer:name (cut)`` of what was shortened."""
    digest: Digest
    """Of the text."""

    @property
    def tokens(self) -> int:
        """Of the whole, about."""
        return approximate_tokens(self.text)

    @property
    def layers(self) -> Mapping[str, int]:
        """Tokens of each layer that says something, about."""
        sums: dict[str, int] = {}
        for part in self.parts:
            sums[part.layer] = sums.get(part.layer, 0) + part.tokens
        return sums


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def assemble(parts: Sequence[Part], *, budget: int | None = None) -> Assembled:
    """Return the prompt of these parts, in the order of the layers.

    ``budget`` is in tokens; None leaves everything in. Where it is passed, parts go from the output
    layer down to the context, within a layer the first before the later (of a project's files the
    farthest); a part of the context is shortened where that is enough. Identity, safety and a skill
    stay even where they alone are more: whether a request can be sent is not judged here.
    """
    ordered = sorted(
        (part for part in parts if part.text.strip()),
        key=lambda part: (part.last, LAYERS.index(part.layer)),
    )
    kept, trimmed = ordered, list[str]()
    if budget is not None:
        kept, trimmed = _fit(ordered, budget)
    text = _joined(kept)
    return Assembled(
        text,
        tuple(
            PartUse(part.layer, part.name, part.source, approximate_tokens(part.text))
            for part in kept
        ),
        tuple(trimmed),
        digest_of(text.encode("utf-8", "surrogatepass")),
    )


def _joined(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.text.strip() for part in parts)


def _size(parts: Sequence[Part]) -> int:
    return approximate_tokens(_joined(parts))


def _fit(parts: Sequence[Part], budget: int) -> tuple[list[Part], list[str]]:
    kept, trimmed = list(parts), list[str]()
    for part in sorted(
        (part for part in parts if part.layer in TRIMMED and not part.last),
        key=lambda part: (TRIMMED.index(part.layer), part.rank),
    ):
        if (size := _size(kept)) <= budget:
            break
        place = kept.index(part)
        can = part.layer == "context" and part.rank == 0
        shorter = _shortened(part, size - budget) if can else None
        kept[place : place + 1] = [shorter] if shorter else []
        trimmed.append(f"{part.layer}:{part.name}{' (cut)' if shorter else ''}")
    return kept, trimmed


def _shortened(part: Part, excess: int) -> Part | None:
    """Return a part without its last lines, smaller by ``excess`` tokens; None: nothing is left."""
    room = (
        (approximate_tokens(part.text) - excess) * BYTES_A_TOKEN
        - len(CUT.encode())
        - len(part.tail.encode())
    )
    if room < LEAST * BYTES_A_TOKEN:
        return None
    body = part.text.removesuffix(part.tail).encode("utf-8", "surrogatepass")[:room]
    lines, _, _ = body.rpartition(b"\n")
    return replace(part, text=lines.decode("utf-8", "ignore") + CUT + part.tail)
