"""``glovebox audit egress``: what left a session's box, what was refused, and a rule for each refusal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.cli.audit_models import models_report
from orchestrator.cli.chains import Chain, Json, chain_file, print_lines, records_of
from orchestrator.harness.box_models.summary import summarise_models
from orchestrator.harness.egress.question import recorded_subject
from orchestrator.harness.egress.summary import Row, Summary, number, suggested_rule, summarise
from orchestrator.schema.terminal_text import escape_terminal

_UNITS = ("B", "kB", "MB", "GB", "TB")


def egress(chain: Chain = None, as_json: Json = False) -> None:
    """Sum up what left a session's box and what was refused, with a rule for each refusal.

    The chain is not verified by this.
    """
    path = chain_file(chain)
    records = list(records_of(path))
    summary, models = summarise(records), summarise_models(records)
    if as_json:
        data = {**_as_data(summary), "models": [row.as_data() for row in models]}
        print_lines(json.dumps({"file": str(path), **data}))
    else:
        network = () if models and not summary.rows else _report(summary)
        lines = [*network, *models_report(models)]
        print_lines(*(escape_terminal(line, keep_newlines=True) for line in lines))


def egress_line(record: Mapping[str, Any]) -> str | None:
    """Return a record of this kind for a list, raw; None for any other."""
    body = record.get("body")
    if not isinstance(body, Mapping):
        return None
    if record.get("type") == "egress":
        rows = summarise([record]).rows
        if not rows:
            return None
        asked = f", asked by {rows[0].programs[0]}" if rows[0].programs else ""
        answer = body.get("answer")
        by = f", answered by {answer.get('by')}" if isinstance(answer, Mapping) else ""
        subject = recorded_subject(rows[0].first)
        return f"{rows[0].effect} {subject}: {rows[0].rule} ({rows[0].layer}){by}{asked}"
    if record.get("type") == "egress_end":
        problem = f", {body.get('problem')}" if body.get("problem") else ""
        status = f"{body.get('status')} " if body.get("status") else ""
        up, down = (_size(number(body.get(key))) for key in ("bytes_up", "bytes_down"))
        return f"of {body.get('egress')}: {status}{up} up, {down} down{problem}"
    return None


def _as_data(summary: Summary) -> dict[str, Any]:
    rows = [row.as_data() | {"suggested_rule": suggested_rule(row)} for row in summary.rows]
    return {
        "allowed": summary.count("allow"),
        "refused": summary.count("deny") + summary.uncounted,
        "rows": rows,
        "artefacts": [dict(artefact) for artefact in summary.artefacts],
        "rule_changes": [dict(change) for change in summary.changes],
    }


def _report(summary: Summary) -> Iterator[str]:
    refused = summary.count("deny") + summary.uncounted
    if not summary.rows:
        yield "nothing left the box, and nothing asked to"
        return
    up = sum(row.bytes_up for row in summary.rows)
    down = sum(row.bytes_down for row in summary.rows)
    yield (
        f"{summary.count('allow')} let out, {refused} refused; {_size(up)} up, {_size(down)} down"
    )
    yield from _section("let out", (row for row in summary.rows if row.effect != "deny"))
    yield from _section("refused", (row for row in summary.rows if row.effect == "deny"))
    if summary.uncounted:
        yield f"  and {summary.uncounted} more, too many to be told apart"
    if summary.artefacts:
        yield "fetched"
        yield from (f"  {_artefact(artefact)}" for artefact in summary.artefacts)
    if summary.changes:
        yield "rules read anew"
        yield from (_change(change) for change in summary.changes)


def _section(name: str, rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    if listed:
        yield name
    for row in listed:
        yield from _row(row)


def _row(row: Row) -> Iterator[str]:
    times = f"{row.count} x"
    passed = f", {_size(row.bytes_up)} up, {_size(row.bytes_down)} down"
    yield (
        f"  {times:>6}  {_place(row)}  by {row.rule} ({row.layer})"
        f"{passed if row.effect != 'deny' else ''}, last {row.last}"
    )
    if row.method is not None:
        shown = ", ".join(row.paths) + (f" and {row.more_paths} more" if row.more_paths else "")
        yield f"          {shown}"
    if row.programs:
        yield f"          asked by {', '.join(row.programs)} (as the box says)"
    for problem in row.problems:
        yield f"          ended early: {problem}"
    if row.effect == "deny":
        yield f"          {row.reason}"
        if suggested := suggested_rule(row):
            yield "          a rule that would let it out:"
            yield from (f"            {line}" for line in suggested.splitlines())


def _place(row: Row) -> str:
    subject = recorded_subject(row.first)
    if row.method is None:
        return subject
    return subject.removesuffix(row.first.path) if row.first.path else subject


def _artefact(body: Any) -> str:
    words = [str(body.get(key, "")) for key in ("ecosystem", "name", "version")]
    matches = body.get("matches")
    said = {True: "as announced", False: "NOT WHAT ITS INDEX ANNOUNCED"}.get(matches, "")
    problem = str(body.get("problem") or "")
    more = "; ".join(part for part in (said, problem) if part)
    digest = f"sha256:{body.get('sha256', '')}"
    return f"{' '.join(filter(None, words))}  {digest}" + (f"  {more}" if more else "")


def _change(change: Any) -> str:
    files = ", ".join(map(str, change.get("files") or ()))
    return f"  {change.get('time', '')}  set {change.get('generation', '')}, from {files}"


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} B"
