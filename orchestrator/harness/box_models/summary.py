"""A session's model calls from its box in sum: by model and rule, with tokens and money. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PURPOSE = "box"
"""Of calls of programs in the box."""


@dataclass(slots=True)
class ModelRow:
    """Calls alike: to one model, under one rule, with one effect."""

    effect: str
    model: str
    """``provider/name``; of a refusal the name as it was asked for, or the path."""
    rule: str
    reason: str
    count: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Calls whose cost is not known."""
    estimated: int = 0
    """Calls whose tokens are taken from the bytes."""
    problems: list[str] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    """Who asked, as the box said."""

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        names = ("effect", "model", "rule", "reason", "count", "tokens", "cost_usd", "unpriced")
        return {name: getattr(self, name) for name in (*names, "estimated", "problems", "programs")}


def summarise_models(records: Iterable[Mapping[str, Any]]) -> list[ModelRow]:
    """Return rows, what was let out first; records are data of a file, what has no sense is left out."""
    rows: dict[tuple[str, str, str], ModelRow] = {}
    calls: dict[int, ModelRow] = {}
    for record in records:
        body = record.get("body")
        if not isinstance(body, Mapping):
            continue
        if record.get("type") == "model_call_in_box":
            row = _row(body, rows)
            number = _whole(body.get("number"))
            if row.effect != "deny":
                calls[number] = row
        elif record.get("type") == "model_call_in_box_end":
            ended = calls.pop(_whole(body.get("number")), None)
            if ended is not None:
                _end(ended, body)
    return sorted(rows.values(), key=lambda row: (row.effect == "deny", -row.count))


def box_calls(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each call that is over as what a session file has of calls that are no turns."""
    models: dict[int, str] = {}
    for record in records:
        body = record.get("body")
        if not isinstance(body, Mapping):
            continue
        number = _whole(body.get("number"))
        if record.get("type") == "model_call_in_box" and body.get("effect") != "deny":
            models[number] = _model(body)
        elif record.get("type") == "model_call_in_box_end" and number in models:
            model, usage = models.pop(number), body.get("usage")
            if isinstance(usage, Mapping):
                guess = sum(map(_whole, usage.values())) if body.get("estimated") is True else 0
                counts = {**usage, "estimated": guess}
                cost = _money(body.get("cost_usd"))
                yield {"purpose": PURPOSE, "model": model, "usage": counts, "cost_usd": cost}


def _model(body: Mapping[str, Any]) -> str:
    return "/".join(str(body[key]) for key in ("provider", "model") if body.get(key))


def _row(body: Mapping[str, Any], rows: dict[tuple[str, str, str], ModelRow]) -> ModelRow:
    effect, rule = str(body.get("effect", "")), str(body.get("rule", ""))
    model = _model(body) or str(body.get("asked") or body.get("path") or "")
    key = (effect, model, rule)
    if key not in rows:
        rows[key] = ModelRow(effect, model, rule, str(body.get("reason", "")))
    row = rows[key]
    # Refusals that repeat have no record each, but say how many there were.
    row.count = max(row.count + 1, _whole(body.get("count")))
    caller = body.get("caller")
    program = caller.get("program") if isinstance(caller, Mapping) else None
    if isinstance(program, str) and program and program not in row.programs:
        row.programs.append(program)
    return row


def _end(row: ModelRow, body: Mapping[str, Any]) -> None:
    usage = body.get("usage")
    if isinstance(usage, Mapping):
        row.tokens += sum(_whole(value) for value in usage.values())
        cost = _money(body.get("cost_usd"))
        row.cost_usd += cost or 0.0
        row.unpriced += cost is None
        row.estimated += body.get("estimated") is True
    problem = body.get("problem")
    if isinstance(problem, str) and problem and problem not in row.problems:
        row.problems.append(problem)


def _money(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
