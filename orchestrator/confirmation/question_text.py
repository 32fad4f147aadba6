"""The words of a question: everything that will run, nothing that moves the cursor.

The frame (``┃`` in front of each quoted line) is reserved for real questions: ``cli.render`` marks
tool output with another gutter, so output cannot pass for a question.
"""

from __future__ import annotations

import re

from orchestrator.confirmation.gate import Question
from orchestrator.confirmation.scopes import offered, remembered
from orchestrator.confirmation.warnings import warnings
from orchestrator.schema.likeness import ANY_WORD
from orchestrator.schema.terminal_text import escape_terminal, wrap_cells

FRAME = "┃ "
BLANK_RUN = re.compile(r" {8,}|\t{4,}")
EMPTY_LINES = 3
"""So many empty lines in a row are shown; more become a count."""
MIN_WIDTH = 4
KEYS = {"once": "y", "session": "s", "project": "p"}
"""What stands for a scope at a terminal; a duration stands for itself."""
_ASKED = {"network": "may this leave the box?"}
_ANY_WORD_IS = {"network": "any path below, any query: no .., no percent sign, no option"}


def render_question(question: Question, columns: int) -> list[str]:
    """Return the lines of the question, none longer than ``columns`` where that can be."""
    decision = question.decision
    tool = _plain(question.tool)
    # What is no tool of an agent's is a question of its own.
    asked = tool if tool.endswith("?") else _ASKED.get(tool, f"may the agent use {tool}?")
    rows = ["", *wrap(f"glovebox asks: {asked}", columns)]
    rows.append(FRAME.rstrip())
    rows += quote(question.subject, columns) if question.subject.strip() else [_empty_warning()]
    rows.append(FRAME.rstrip())
    if question.cwd:
        rows += wrap(f"in {_plain(question.cwd)}", columns)
    why = f"{decision.reason} ({decision.layer}: {decision.rule})"
    rows += wrap(f"why asked: {_plain(why)}", columns)
    if decision.span is not None:
        start, end = decision.span
        rows += wrap(f"part: {_plain(question.subject[start:end])}", columns)
    effects = question.likeness.effects
    for effect in effects:
        # The reason is told already.
        if effect.partition(": ")[2] != decision.reason:
            rows += wrap(f"effect: {_plain(effect)}", columns)
    for note in decision.notes:
        if note.removeprefix("risk:") not in effects:
            rows += wrap(f"also: {_plain(note)}", columns)
    for warning in warnings(question.subject):
        rows += wrap(f"warning: {warning}", columns)
    if question.body:
        for warning in warnings(question.body):
            rows += wrap(f"warning: below, {warning}", columns)
        rows.append(FRAME.rstrip())
        rows += quote(question.body, columns)
    rows.append(FRAME.rstrip())
    return rows + _choices(question, columns)


def _choices(question: Question, columns: int) -> list[str]:
    """Return what each answer is kept for, and how else the question is answered."""
    if question.kept_for:
        return []
    rows = []
    for scope in offered(question):
        rows += wrap(f"{KEYS.get(scope, scope):4} yes: {remembered(scope)}", columns)
    if wider_offered(question) and question.likeness.pattern is not None:
        pattern = _plain(question.likeness.pattern.text)
        keys = ", ".join(f"{KEYS.get(scope, scope)}*" for scope in offered(question)[1:])
        rows += wrap(f"{keys}  yes, and for this too, however it is written: {pattern}", columns)
        if ANY_WORD in pattern:
            any_word = _ANY_WORD_IS.get(question.tool, "any name: no option, glob, .. or a:b")
            rows += wrap(f"     {ANY_WORD} is {any_word}", columns)
    rows += wrap("n    no, and not asked again in this run for what does the same", columns)
    if question.session:
        rows += wrap(f"id   {question.id} (glovebox approvals answer {question.id} …)", columns)
    return rows


def render_prompt(question: Question) -> str:
    """Return the line that waits for a key."""
    if question.kept_for:
        return f"{FRAME}y = yes, n = no (default); kept for {_plain(question.kept_for)}: "
    keys = ", ".join(KEYS.get(scope, scope) for scope in offered(question))
    return f"{FRAME}{keys}, n [reason] = no (default): "


def wider_offered(question: Question) -> bool:
    """Say whether a yes may cover a pattern: only one that is remembered can."""
    return question.likeness.pattern is not None and len(offered(question)) > 1


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
