"""A session's turns and snapshots in lines for a terminal. Pure; names are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.harness.rewind_plan import Aim
from orchestrator.harness.rewind_turns import Turn
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.snapshots_words import Snapshot

SHOWN = 72
"""Characters of what was said in a turn."""


def turn_lines(turns: Sequence[Turn], snapshots: Sequence[Snapshot]) -> Iterator[str]:
    """Yield a line a turn with its snapshot, then the snapshots that belong to none of them."""
    others = False
    for target, line in rewind_rows(turns, snapshots):
        if not others and target.startswith("s"):
            others = True
            yield "other snapshots:"
        yield line


def rewind_rows(turns: Sequence[Turn], snapshots: Sequence[Snapshot]) -> Iterator[tuple[str, str]]:
    """Yield what names each place one can go back to (``3``, ``s7``) with its line, turns first."""
    own: dict[str, Snapshot] = {}
    for snapshot in snapshots:
        if snapshot.moment.kind in {"start", "turn"}:
            own[snapshot.moment.entry] = snapshot
    for turn in turns:
        yield str(turn.number), _turn_line(turn, own.pop(turn.entry or "", None))
    left = {item.number for item in own.values()}
    for item in snapshots:
        if item.number in left or item.moment.kind in {"before", "rewound", "apply"}:
            time = item.time[:19].replace("T", " ")
            line = f"      s{item.number:<4} {time:19}  {_changed(item):14}   {_why(item)}"
            yield f"s{item.number}", line


def _turn_line(turn: Turn, mine: Snapshot | None) -> str:
    name, changed = (f"s{mine.number}", _changed(mine)) if mine is not None else ("-", "")
    words = "the start" if turn.entry is None else " ".join(turn.words.split())[:SHOWN]
    mark = "»" if turn.prompted else " "
    time = (turn.time or (mine.time if mine is not None else ""))[:19].replace("T", " ")
    return f"{turn.number:4}  {name:5} {time:19}  {changed:14} {mark} {escape_terminal(words)}"


def _changed(snapshot: Snapshot) -> str:
    counts = ((snapshot.added, "+"), (snapshot.modified, "~"), (snapshot.deleted, "-"))
    return " ".join(f"{sign}{count}" for count, sign in counts if count)


def _why(snapshot: Snapshot) -> str:
    turn = snapshot.moment.turn
    words = {
        "before": f"before a rewind at turn {turn}",
        "rewound": f"s{snapshot.restored} brought back",
        "apply": f"after changes were applied at turn {turn}",
    }
    return words.get(snapshot.moment.kind, f"turn {turn} of a branch that was left")


def done_words(aim: Aim) -> str:
    """Return what a rewind did, in a line."""
    words = {"both": "files and conversation are", "files": "the files are"}
    what = words.get(aim.what, "the conversation is")
    where = f"the end of turn {aim.turn}" if aim.turn else "the start"
    if aim.undo:
        return f"the newest rewind is undone: {what} as before it, at {where}"
    return f"{what} back at {where}"
