"""A session's egress records in sum: by place, method and rule, with bytes and what was fetched. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.harness.egress.book import EACH_ALIKE
from orchestrator.harness.egress.records import refusing_layer
from orchestrator.policy.suggest_egress import draft_of, rule_id, suggest_rule
from orchestrator.schema.decision import Decision, Effect
from orchestrator.schema.egress import EgressRequest, EgressVerdict

_NUMBER = re.compile(r"[0-9]+")
SHOWN_PATHS = 5
"""Different paths of one row that are kept; the rest is a count."""


@dataclass(slots=True)
class Row:
    """Requests alike: to one place, by one method, under one rule, with one effect."""

    effect: str
    scheme: str
    host: str
    port: int
    method: str | None
    rule: str
    layer: str
    reason: str
    door: str
    first: EgressRequest
    count: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    last: str = ""
    """Time of the last, RFC 3339."""
    paths: list[str] = field(default_factory=list)
    more_paths: int = 0
    problems: list[str] = field(default_factory=list)
    """Why connections that were allowed ended early, each once."""
    programs: list[str] = field(default_factory=list)
    """Who asked, as the box said."""
    address: str = ""
    """That its name leads to, where it was refused for that."""

    @property
    def verdict(self) -> EgressVerdict:
        """The verdict, as far as the record tells it."""
        effect: Effect = "deny" if self.effect == "deny" else "allow"
        return EgressVerdict(Decision(effect, self.rule, self.layer, self.reason))

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        names = ("effect", "scheme", "host", "port", "method", "rule", "layer", "reason", "door")
        sums = ("count", "bytes_up", "bytes_down", "last", "paths", "more_paths", "problems")
        return {name: getattr(self, name) for name in (*names, *sums, "programs")}


@dataclass(slots=True)
class Summary:
    """One chain's."""

    rows: list[Row] = field(default_factory=list)
    """What was let out before what was refused, the most frequent first."""
    artefacts: list[Mapping[str, Any]] = field(default_factory=list)
    changes: list[Mapping[str, Any]] = field(default_factory=list)
    """Of the rules while the session ran."""
    uncounted: int = 0
    """Refusals that were too many to be told apart."""

    def count(self, effect: str) -> int:
        """Return how many had this effect."""
        return sum(row.count for row in self.rows if row.effect == effect)


def summarise(records: Iterable[Mapping[str, Any]]) -> Summary:
    """Return a chain's summary; records are data of a file, and what has no sense is left out."""
    summary = Summary()
    rows: dict[Any, Row] = {}
    by_seq: dict[int, Row] = {}
    again: dict[int, int] = {}
    records = list(records)
    refused = _refused_late(records)
    for record in records:
        body = record.get("body")
        if not isinstance(body, Mapping):
            continue
        kind, time = record.get("type"), str(record.get("time", ""))
        seq = _seq(record.get("seq"))
        if kind == "egress" and (row := _row_of(body, rows, refused.get(seq))) is not None:
            by_seq[seq] = row
            _add(row, body, time)
        elif kind == "egress_end" and (row := by_seq.get(_seq(body.get("egress")))) is not None:
            _end(row, body)
        elif kind == "egress_again":
            again[_seq(body.get("egress"))] = number(body.get("count"))
        elif kind == "artefact":
            summary.artefacts.append(body)
        elif kind == "policy_change":
            summary.changes.append({"time": time, **body})
    _count_again(summary, again, by_seq)
    summary.rows = sorted(rows.values(), key=lambda row: (row.effect == "deny", -row.count))
    return summary


def _refused_late(records: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """Return the ends of what was refused after a yes, by the number of the decision."""
    bodies = (record.get("body") for record in records if record.get("type") == "egress_end")
    ends = (body for body in bodies if isinstance(body, Mapping))
    return {_seq(end.get("egress")): end for end in ends if isinstance(end.get("refused"), str)}


def _as_refused(body: Mapping[str, Any], end: Mapping[str, Any]) -> Mapping[str, Any]:
    rule, layer = str(body.get("rule", "")), str(body.get("layer", ""))
    refused = str(end.get("refused"))
    found = {"effect": "deny", "rule": refused, "reason": str(end.get("problem") or "")}
    return {**body, **found, "layer": refusing_layer(refused, rule, layer)}


def _row_of(
    body: Mapping[str, Any], rows: dict[Any, Row], end: Mapping[str, Any] | None
) -> Row | None:
    """Return the row of a decision, by what became of it; ``end`` where that was a refusal."""
    if end is not None and body.get("effect") == "allow":
        body = _as_refused(body, end)
        # One rule refuses for several reasons; those that differ in a number are one.
        alike = _NUMBER.sub("#", body["reason"])
    else:
        alike = ""
    host, effect, method = body.get("host"), body.get("effect"), body.get("method")
    if not isinstance(host, str) or not isinstance(effect, str):
        return None
    scheme, door = str(body.get("scheme", "")), str(body.get("door", ""))
    port, rule = number(body.get("port")), str(body.get("rule", ""))
    key = (effect, scheme, host, port, method, rule, body.get("layer"), door == "dns", alike)
    if key not in rows:
        request = EgressRequest(
            door=door,  # type: ignore[arg-type]  # words of our own record
            scheme=scheme,  # type: ignore[arg-type]  # the same
            host=host,
            port=port,
            method=str(method) if method else None,
            target=str(body.get("path") or ""),
            upgrade=str(body.get("upgrade", "")),
            overrides=tuple(map(str, body.get("overrides") or ())),
            other_paths=tuple(map(str, body.get("other_paths") or ())),
        )
        rows[key] = Row(
            effect,
            scheme,
            host,
            port,
            request.method,
            rule,
            str(body.get("layer", "")),
            str(body.get("reason", "")),
            door,
            request,
            address=str(end.get("address") or "") if end is not None and rule == "address" else "",
        )
    return rows[key]


def _add(row: Row, body: Mapping[str, Any], time: str) -> None:
    row.count += 1
    row.last = time
    path = body.get("path")
    if isinstance(path, str) and path not in row.paths:
        if len(row.paths) < SHOWN_PATHS:
            row.paths.append(path)
        else:
            row.more_paths += 1
    caller = body.get("caller")
    program = caller.get("program") if isinstance(caller, Mapping) else None
    if isinstance(program, str) and program and program not in row.programs:
        row.programs.append(program)


def _end(row: Row, body: Mapping[str, Any]) -> None:
    row.bytes_up += number(body.get("bytes_up"))
    row.bytes_down += number(body.get("bytes_down"))
    problem = body.get("problem") if not body.get("refused") else None
    if isinstance(problem, str) and problem and problem not in row.problems:
        row.problems.append(problem)


def _count_again(summary: Summary, again: Mapping[int, int], by_seq: Mapping[int, Row]) -> None:
    """Put in the refusals that were counted and have no record of their own."""
    for seq, count in again.items():
        row = by_seq.get(seq)
        if row is None:
            summary.uncounted += count
        else:
            row.count += max(0, count - EACH_ALIKE)


def suggested_rule(row: Row) -> str | None:
    """Return the narrowest rule that lets out what a row of refusals is about, as YAML.

    None where nothing was refused, or no rule could lift it.
    """
    address = row.address
    if row.effect != "deny" or suggest_rule(row.first, row.verdict, address=address) is None:
        return None
    requests = [replace(row.first, target=path) for path in row.paths or [""]]
    drafts = [draft_of(request, address=address) for request in requests]
    found = [draft for draft in drafts if draft is not None]
    if not found:
        return None
    paths = tuple(dict.fromkeys(path for draft in found for path in draft.paths))
    whole = replace(found[0], paths=paths)
    return "\n".join(whole.lines(rule_id(whole), "allow"))


def number(value: Any) -> int:
    """Return a record's number; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _seq(value: Any) -> int:
    """Return a record's number among all; one that no record has where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
