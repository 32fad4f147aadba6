"""The words of a question: everything that will run, nothing that moves the cursor.

The frame (``┃`` in front of each quoted line) is reserved for real questions: ``cli.render`` marks
tool output with another gutter, so output cannot pass for a question.
"""

from __future__ import annotations

import re

from orchestrator.confirmation.gate import Question
from orchestrator.schema.terminal_text import escape_terminal, wrap_cells

FRAME = "┃ "
BLANK_RUN = re.compile(r" {8,}|\t{4,}")
EMPTY_LINES = 3
"""So many empty lines in a row are shown; more become a count."""
MIN_WIDTH = 20


def render_question(question: Question, columns: int) -> list[str]:
    """Return the lines of the question, none longer than ``columns`` where that can be."""
    decision = question.decision
    rows = ["", *wrap(f"glovebox asks: may the agent use {_plain(question.tool)}?", columns)]
    rows.append(FRAME.rstrip())
    rows += quote(question.subject, columns) if question.subject.strip() else [_empty_warning()]
    rows.append(FRAME.rstrip())
    rows += wrap(f"in {_plain(question.cwd)}", columns)
    why = f"{decision.reason} ({decision.layer}: {decision.rule})"
    rows += wrap(f"why asked: {_plain(why)}", columns)
    if decision.span is not None:
        start, end = decision.span
        rows += wrap(f"part: {_plain(question.subject[start:end])}", columns)
    for note in decision.notes:
        rows += wrap(f"also: {_plain(note)}", columns)
    if hides_characters(question.subject):
        rows += wrap("warning: it holds hidden or control characters, shown as escapes", columns)
    if question.body:
        rows.append(FRAME.rstrip())
        rows += quote(question.body, columns)
    return rows


def render_prompt(question: Question) -> str:
    """Return the line that waits for a key."""
    if question.kept_for:
        return f"{FRAME}y = yes, n = no (default); kept for {_plain(question.kept_for)}: "
    remember = session_offered(question)
    choices = "y = once, s = this exact one until the session ends, " if remember else "y = once, "
    return f"{FRAME}{choices}n [reason] = no (default): "


def session_offered(question: Question) -> bool:
    """Say whether a yes may be remembered: never where a rule asks each time anew."""
    decision = question.decision
    return "session" in question.scopes and not decision.always and not decision.unyielding


def hides_characters(text: str) -> bool:
    """Say whether the text holds anything but visible characters, blanks, tabs and newlines."""
    return escape_terminal(text, keep_newlines=True) != text


def quote(text: str, columns: int) -> list[str]:
    """Return text as framed lines, escaped, wrapped, long blank runs told as a count."""
    rows: list[str] = []
    empty = 0
    for line in escape_terminal(text, keep_newlines=True).split("\n"):
        if line.strip():
            if empty > EMPTY_LINES:
                rows.append(f"{FRAME}[… {empty - EMPTY_LINES} more empty lines …]")
            empty = 0
            rows += wrap("  " + BLANK_RUN.sub(_count_blanks, line), columns)
            continue
        empty += 1
        if empty <= EMPTY_LINES:
            rows.append(FRAME.rstrip())
    return rows


def wrap(line: str, columns: int) -> list[str]:
    """Return one line as framed rows; cut by width alone, so that nothing is dropped."""
    width = max(columns - len(FRAME) - 1, MIN_WIDTH)
    return [FRAME + piece for piece in wrap_cells(line, width)]


def _count_blanks(match: re.Match[str]) -> str:
    return f" [… {len(match.group())} blanks …] "


def _plain(text: str) -> str:
    return escape_terminal(text)


def _empty_warning() -> str:
    return f"{FRAME}  warning: the command is empty; there is nothing to judge it by"
