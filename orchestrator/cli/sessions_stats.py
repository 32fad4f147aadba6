"""``glovebox sessions stats``: what a session came to, or all of a directory's together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.sessions_chosen import (
    Json,
    OptionalSession,
    folder_of,
    show,
    tell,
    user_paths,
    view_of,
)
from orchestrator.config.paths import Paths
from orchestrator.errors import GloveboxError
from orchestrator.harness.spending import session_stats
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import list_sessions
from orchestrator.sessions.stats import Stats, Tally, ToolTally, dollars, joined
from orchestrator.sessions.view import SessionView


def stats(
    session: OptionalSession = None,
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    every: Annotated[
        bool, typer.Option("--every", help="All sessions of the directory together.")
    ] = False,
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    turns: Annotated[bool, typer.Option("--turns", help="Each turn too.")] = False,
    as_json: Json = False,
) -> None:
    """Show turns, tokens, cost and what caching saved: by model, tool, skill, purpose and session.

    All branches count, and calls of programs in the box (purpose box). What a copy has from its origin counts there. A call whose price is not
    known makes the sum unknown; what is known is shown beside it.
    """
    paths = user_paths()
    parts: dict[str, Stats] = {}
    if every or everywhere:
        parts = _of_all(folder_of(cd, paths, everywhere=everywhere), paths)
        counted = joined(parts.values())
    else:
        counted = _of_one(view_of(session, paths, directory=cd), paths)
    if as_json:
        show(json.dumps(_rows(counted, with_turns=turns) | _sessions(parts)))
        return
    show(*map(escape_terminal, stats_lines(counted)))
    show(*map(escape_terminal, _session_lines(parts)))
    if turns:
        show(*map(escape_terminal, _turn_lines(counted)))


def _of_one(view: SessionView, paths: Paths) -> Stats:
    return session_stats(view.tree.entries, paths.audit_log(view.header.id))


def _of_all(folder: Path, paths: Paths) -> dict[str, Stats]:
    """Return what each session came to, by its id, the newest first."""
    parts = {}
    for item in list_sessions(folder):
        try:
            view = SessionView.open(item.path)
            parts[str(view.header.id)] = _of_one(view, paths)
        except GloveboxError as error:
            tell(error.message)
    return parts


def _session_lines(parts: Mapping[str, Stats]) -> Iterator[str]:
    if parts:
        yield "sessions"
    for name, part in parts.items():
        yield f"  {name:22} {_tally(part.total)}"


def _sessions(parts: Mapping[str, Stats]) -> dict[str, Any]:
    rows = {name: {"turns": len(part.turns), **_row(part.total)} for name, part in parts.items()}
    return {"sessions": rows} if rows else {}


def stats_lines(counted: Stats) -> Iterator[str]:
    """Yield what sessions came to, in raw lines."""
    total = counted.total
    yield f"{counted.said} messages of yours, {len(counted.turns)} turns, {total.calls} model calls"
    yield f"{'total':24} {_tally(total)}"
    for title, tallies in (
        ("models", counted.models),
        ("skills", counted.skills),
        ("purposes", counted.purposes),
    ):
        if len(tallies) > (title != "models"):
            yield title
            for name, tally in sorted(tallies.items()):
                yield f"  {name or '(no skill)':22} {_tally(tally)}"
    if counted.tools:
        yield "tools (what their results put into the conversation; what the answers that called cost)"
        for name, tool in sorted(counted.tools.items()):
            yield (
                f"  {name:22} {tool.calls} calls, {tool.errors} errors, "
                f"about {tool.tokens:,} tokens, {tool.images} images, {_tool_cost(tool)}"
            )
    if counted.compactions:
        yield f"{counted.compactions} compactions"


def _tally(tally: Tally) -> str:
    usage = tally.usage
    cached = f", {usage.cache_read:,} from cache" if usage.cache_read else ""
    saved = f", caching saved ${tally.saved_usd:.4f}" if tally.saved_usd else ""
    guessed = f" ({usage.estimated:,} tokens estimated)" if usage.estimated else ""
    tokens = f"{usage.input:,} in, {usage.output:,} out{cached}{guessed}"
    return f"{tally.calls} calls, {tokens}, {_cost(tally)}{saved}"


def _cost(tally: Tally) -> str:
    if tally.cost_usd is not None:
        return dollars(tally.cost_usd, tally.usage)
    known = f"; ${tally.known_usd:.4f} known" if tally.known_usd else ""
    return f"cost unknown for {tally.unpriced} of {tally.calls}{known}"


def _tool_cost(tool: ToolTally) -> str:
    if tool.cost_usd is not None:
        return dollars(tool.cost_usd, tool)
    return f"cost unknown for {tool.unpriced} of {tool.calls}"


def _turn_lines(counted: Stats) -> Iterator[str]:
    yield "turns"
    for turn in counted.turns:
        cost = dollars(turn.cost_usd, turn.usage)
        tools = f"  {', '.join(turn.tools)}" if turn.tools else ""
        skill = f"  skill {turn.skill}" if turn.skill else ""
        cached = f", {turn.usage.cache_read:,} from cache" if turn.usage.cache_read else ""
        saved = f", caching saved ${turn.saved_usd:.4f}" if turn.saved_usd else ""
        yield (
            f"  {turn.number:4} {turn.entry}  {turn.model}  {turn.usage.input:,} in, "
            f"{turn.usage.output:,} out{cached}, {cost}{saved}{skill}  {turn.stop_reason}{tools}"
        )


def _rows(counted: Stats, *, with_turns: bool) -> dict[str, Any]:
    rows: dict[str, Any] = {
        "said": counted.said,
        "turns": len(counted.turns),
        "entries": counted.entries,
        "compactions": counted.compactions,
        "total": _row(counted.total),
        "models": _tallies(counted.models),
        "skills": _tallies(counted.skills),
        "purposes": _tallies(counted.purposes),
        "tools": {
            name: {**asdict(tool), "tokens": tool.tokens, "cost_usd": tool.cost_usd}
            for name, tool in counted.tools.items()
        },
    }
    if with_turns:
        rows["each"] = [asdict(turn) for turn in counted.turns]
    return rows


def _tallies(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    return {name: _row(tally) for name, tally in tallies.items()}


def _row(tally: Tally) -> dict[str, Any]:
    return {**asdict(tally), "cost_usd": tally.cost_usd}
