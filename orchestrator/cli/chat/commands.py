"""What can be done in a chat besides talking: a table of commands that begin with ``/``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.cli.chat.keys import KEYS
from orchestrator.cli.chat.talk import Leave, Talk
from orchestrator.errors import UsageError
from orchestrator.schema.ids import EntryId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.thinking import THINKING_LEVELS
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.outline import outline, summary_of

WIDTH = 72
"""Characters of one entry in the tree."""
SHORT_ID = 6


@dataclass(frozen=True, slots=True)
class Command:
    """One command."""

    words: str
    """What may follow its name, for the help."""
    help: str
    run: Callable[[Talk, str], Awaitable[Leave | None]]
    at_rest: bool = True
    """Only while the model is not at work."""


async def run_command(talk: Talk, line: str) -> Leave | None:
    """Carry out a line; UsageError for a name that is no command, or where it may not be now."""
    name, _, rest = line[1:].strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise UsageError(f"/{name}: there is no such command", hint="/help lists them")
    if command.at_rest and talk.is_busy:
        raise UsageError(f"/{name}: the model is at work", hint="stop it first, with Esc or /abort")
    return await command.run(talk, rest.strip())


async def _help(talk: Talk, _: str) -> None:
    for name, command in COMMANDS.items():
        talk.surface.note(f"/{name} {command.words}".ljust(24) + command.help)
    talk.surface.note("//TEXT".ljust(24) + "say a text that begins with /")
    for keys, what in KEYS:
        talk.surface.note(keys.ljust(24) + what)


async def _quit(_talk: Talk, _: str) -> Leave:
    return Leave()


async def _abort(talk: Talk, _: str) -> None:
    if not talk.is_busy:
        talk.surface.note("the model is not at work")
    talk.stop()


async def _model(talk: Talk, name: str) -> None:
    models = talk.conversation.session.models
    if name:
        await models.switch(name)
    level = models.thinking or "its own default"
    talk.surface.note(escape_terminal(f"model {models.info.id}, thinking {level}"))


async def _thinking(talk: Talk, word: str) -> None:
    level = next((known for known in THINKING_LEVELS if known == word), None)
    if word and word != "default" and level is None:
        raise UsageError(f"/thinking: expected one of {', '.join(THINKING_LEVELS)} or default")
    if word:
        talk.conversation.session.models.think(level)
    await _model(talk, "")


async def _tree(talk: Talk, word: str) -> None:
    tree = talk.conversation.session.record.store.tree
    if word:
        text = talk.conversation.go_to(_named(word, tree.entries))
        talk.surface.note("the conversation goes on from there; files are as they are")
        if text:
            talk.surface.draft(text)
        return
    for line in _tree_lines(talk):
        talk.surface.note(line)


def _tree_lines(talk: Talk) -> Iterator[str]:
    for line in outline(talk.conversation.session.record.store.tree):
        if line.entry.type not in {"message", "compaction", "branch_summary", "label"}:
            continue
        mark = ">" if line.on_path else " "
        words = " ".join(summary_of(line.entry).split())
        cut = words if len(words) <= WIDTH else words[:WIDTH] + "…"
        shown = escape_terminal(cut)
        yield f"{mark} {line.entry.id[:SHORT_ID]} {'  ' * line.depth}{shown}"


def _named(word: str, entries: Sequence[Entry]) -> EntryId:
    found = [entry.id for entry in entries if entry.id.startswith(word)]
    if len(found) != 1:
        raise UsageError(f"/tree {word}: expected the id of one entry, {len(found)} begin so")
    return found[0]


COMMANDS: dict[str, Command] = {
    "help": Command("", "list the commands", _help, at_rest=False),
    "model": Command("[NAME]", "show the model, or ask another from now on", _model),
    "thinking": Command("[LEVEL]", "how hard it thinks", _thinking),
    "tree": Command("[ENTRY]", "show the conversation's tree, or go on from an entry", _tree),
    "abort": Command("", "stop the model and what it runs", _abort, at_rest=False),
    "quit": Command("", "leave; changes wait to be applied", _quit, at_rest=False),
}
"""Name to command, in the order of the help."""
