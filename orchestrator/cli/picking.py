"""``glovebox apply -i``: asks about each change, and each hunk where the person wants that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.cli.review import shown_line
from orchestrator.confirmation.terminal import Terminal
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.node import Change, ChangeSet
from orchestrator.workspace.patch import Piece
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.portions import HunkChoice
from orchestrator.workspace.summary import change_line, warning_lines


@dataclass(slots=True)
class Picked:
    """What the person said yes to."""

    paths: list[str] = field(default_factory=list)
    hunks: dict[str, HunkChoice] = field(default_factory=dict)
    include_protected: bool = False
    """Some path among them is protected; each was asked for by a whole ``yes``."""
    stopped: bool = False

    def selection(self, *, ignored: bool) -> Selection | None:
        """Return the selection, None where nothing was taken."""
        if not self.paths and not self.hunks:
            return None
        return Selection(
            paths=tuple(self.paths),
            hunks=self.hunks,
            include_protected=self.include_protected,
            ignored=ignored,
        )


async def pick(terminal: Terminal, changes: ChangeSet, pieces: Iterable[Piece]) -> Picked:
    """Ask about each change; whatever is no clear yes is a no."""
    picked = Picked()
    for piece in pieces:
        if picked.stopped:
            break
        await _pick_one(terminal, changes, piece, picked)
    return picked


async def _pick_one(terminal: Terminal, changes: ChangeSet, piece: Piece, picked: Picked) -> None:
    change = piece.change
    _write(terminal, ["", *(shown_line(line) for line in piece.lines)])
    # Below the diff, so that a long one does not push them out of sight.
    _write(terminal, [change_line(change), *warning_lines(change)])
    guarded = _guarded(changes, change)
    if guarded:
        _write(terminal, [f"  protected by policy: {escape_terminal(', '.join(guarded))}"])
    if change.refused or change.conflict:
        _write(terminal, [f"stays in the box; see glovebox diff {changes.session}"])
        return
    several = len(piece.hunks) > 1
    choices = f", h = choose among its {len(piece.hunks)} hunks" if several else ""
    answer = await _ask(
        terminal, f"apply it? {_yes(guarded)}{choices}, n = no (default), q = no more: "
    )
    if answer == "yes" or (answer == "y" and not guarded):
        picked.include_protected = picked.include_protected or bool(guarded)
        _take_whole(piece, picked)
    elif answer == "h" and several:
        await _pick_hunks(terminal, piece, picked, guarded=guarded)
    elif answer in {"q", None}:
        picked.stopped = True


def _guarded(changes: ChangeSet, change: Change) -> list[str]:
    """Return which of its names are protected; a move has two, and takes the old one away."""
    moved = [each for each in changes.changes if each.path == change.renamed_from]
    return [each.path for each in (change, *moved) if each.protected]


def _yes(guarded: list[str]) -> str:
    return "yes (the whole word)" if guarded else "y = yes"


def _take_whole(piece: Piece, picked: Picked) -> None:
    change = piece.change
    if piece.digest:
        # Bound to what was shown: another content has another digest, and is not applied.
        picked.hunks[change.path] = _choice(piece, range(1, len(piece.hunks) + 1))
    else:
        picked.paths += [path for path in (change.path, change.renamed_from) if path]


async def _pick_hunks(
    terminal: Terminal, piece: Piece, picked: Picked, *, guarded: list[str]
) -> None:
    change = piece.change
    wanted: list[int] = []
    for number, lines in enumerate(piece.hunks, 1):
        _write(terminal, (shown_line(line) for line in lines))
        prompt = f"{escape_terminal(change.path)}: hunk {number} of {len(piece.hunks)}? "
        answer = await _ask(terminal, f"{prompt}{_yes(guarded)}, n = no (default), q = no more: ")
        if answer == "yes" or (answer == "y" and not guarded):
            wanted.append(number)
        elif answer in {"q", None}:
            picked.stopped = True
            break
    if wanted:
        picked.include_protected = picked.include_protected or bool(guarded)
        picked.hunks[change.path] = _choice(piece, wanted)


def _choice(piece: Piece, numbers: Iterable[int]) -> HunkChoice:
    return HunkChoice(frozenset(numbers), piece.digest)


async def _ask(terminal: Terminal, prompt: str) -> str | None:
    terminal.discard_input()
    terminal.write(prompt)
    line = await terminal.read_line()
    return None if line is None else line.strip().lower()


def _write(terminal: Terminal, lines: Iterable[str]) -> None:
    terminal.write("".join(f"{line}\n" for line in lines))
