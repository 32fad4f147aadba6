"""The part of ``glovebox audit egress`` that tells which models the box asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.harness.box_models.summary import ModelRow


def models_report(rows: Sequence[ModelRow]) -> Iterator[str]:
    """Yield lines, raw; none where the box asked no model."""
    if not rows:
        return
    tokens = sum(row.tokens for row in rows)
    refused = sum(row.count for row in rows if row.effect == "deny")
    asked = sum(row.count for row in rows) - refused
    yield f"models: {asked} calls, {refused} refused; {tokens:,} tokens{_cost(rows)}"
    for row in rows:
        yield from _row(row)


def _row(row: ModelRow) -> Iterator[str]:
    used = "" if row.effect == "deny" else f", {row.tokens:,} tokens{_cost([row])}"
    guess = f", {row.estimated} estimated" if row.estimated else ""
    yield f"  {f'{row.count} x':>6}  {row.effect} {row.model}  by {row.rule}{used}{guess}"
    if row.programs:
        yield f"          asked by {', '.join(row.programs)} (as the box says)"
    if row.effect == "deny":
        yield f"          {row.reason}"
    for problem in row.problems:
        yield f"          ended early: {problem}"


def _cost(rows: Sequence[ModelRow]) -> str:
    cost = sum(row.cost_usd for row in rows)
    unpriced = sum(row.unpriced for row in rows)
    lacking = f" and {unpriced} calls of unknown price" if unpriced else ""
    return f", ${cost:.4f}{lacking}" if cost or unpriced else ""
