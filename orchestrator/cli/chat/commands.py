"""What can be done in a chat besides talking: a table of commands that begin with ``/``."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from anyio import to_thread

from orchestrator.cli.chat import branches, resting
from orchestrator.cli.chat.calling import called, command_words, template_helps
from orchestrator.cli.chat.keys import KEYS
from orchestrator.cli.chat.talk import Leave, Talk
from orchestrator.cli.policy import policy_lines
from orchestrator.cli.sessions_stats import stats_lines
from orchestrator.errors import UsageError
from orchestrator.harness.spending import session_stats
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.thinking import THINKING_LEVELS
from orchestrator.skills.router import AUTO, Said, said_skill

NEXT = "from the next request on"
HELP_COLUMN = 42
SKILL_COLUMN = 20
_PATH = re.compile(r"/[^\s/]+/")


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
    """Carry out a line, or say the template that it calls, or the line itself where it is a path.

    Raises UsageError for a name that is neither's, and where a command may not be now.
    """
    name, rest = command_words(line)
    if name.startswith("skill:"):
        name, rest = "skill", f"{name.removeprefix('skill:')} {rest}"
    command = COMMANDS.get(name)
    if command is None:
        path = _PATH.match(line)
        text = None if path else await called(talk, line, known=COMMANDS)
        await talk.say(line if text is None else text)
        return None
    if command.at_rest and talk.is_busy:
        raise UsageError(f"/{name}: the model is at work", hint="stop it first, with Esc or /abort")
    return await command.run(talk, rest)


async def _help(talk: Talk, _: str) -> None:
    for name, command in COMMANDS.items():
        talk.surface.note(f"/{name} {command.words}".ljust(HELP_COLUMN) + command.help)
    helps = await to_thread.run_sync(lambda: list(template_helps(talk.directory, talk.paths)))
    for _name, usage, what in helps:
        talk.surface.note(escape_terminal(usage.ljust(HELP_COLUMN) + what))
    talk.surface.note("//TEXT".ljust(HELP_COLUMN) + "say a text that begins with /")
    for keys, what in KEYS:
        talk.surface.note(keys.ljust(HELP_COLUMN) + what)


async def _quit(_talk: Talk, _: str) -> Leave:
    return Leave()


async def _abort(talk: Talk, _: str) -> None:
    if not talk.is_busy:
        talk.surface.note("the model is not at work")
    talk.stop()


async def _model(talk: Talk, name: str) -> None:
    models = talk.conversation.session.models
    if name:
        busy = talk.is_busy
        info = await models.switch(name, at_work=busy)
        if busy:
            talk.surface.note(escape_terminal(f"model {info.id} {NEXT}"))
            return
    level = models.thinking or "its own default"
    talk.surface.note(escape_terminal(f"model {models.info.id}, thinking {level}"))


async def _thinking(talk: Talk, word: str) -> None:
    if word in {"show", "hide"}:
        talk.surface.show_thoughts(shown=word == "show")
        return
    level = next((known for known in THINKING_LEVELS if known == word), None)
    if word and word != "default" and level is None:
        raise UsageError(f"/thinking: expected one of {', '.join(THINKING_LEVELS)} or default")
    if word:
        busy = talk.is_busy
        talk.conversation.session.models.think(level, at_work=busy)
        if busy:
            talk.surface.note(f"thinking {level or 'its own default'} {NEXT}")
            return
    await _model(talk, "")


async def _skill(talk: Talk, words: str) -> Leave | None:
    desk = talk.conversation.session.skills
    said = said_skill(f"/skill {words}") or Said(words, "")
    if not words:
        for name, skill in desk.catalogue.skills.items():
            mark = ">" if name == desk.name else " "
            talk.surface.note(
                escape_terminal(f"{mark} {name}".ljust(SKILL_COLUMN) + skill.description)
            )
    elif said.skill == AUTO:
        await talk.conversation.choose_skills()
    else:
        await talk.conversation.use_skill(said.skill)
    if not desk.name:
        chosen = "what you say may call for one" if desk.routes else "none is chosen"
        talk.surface.note(f"no skill is on; {chosen}")
    if not said.rest or not words:
        return None
    if said.rest.startswith("/") and not said.rest.startswith("//"):
        return await run_command(talk, said.rest)
    await talk.say(said.rest.removeprefix("/") if said.rest.startswith("//") else said.rest)
    return None


async def _compact(talk: Talk, focus: str) -> None:
    if await talk.conversation.compact(focus) is None:
        talk.surface.note("there is nothing to summarise yet")


async def _cost(talk: Talk, _: str) -> None:
    entries = talk.conversation.session.record.store.tree.entries
    counted = session_stats(entries, talk.paths.audit_log(talk.session))
    for line in stats_lines(counted):
        talk.surface.note(escape_terminal(line))


async def _policy(talk: Talk, _: str) -> None:
    session = talk.conversation.session
    for line in policy_lines(session.skills.votes.under(session.models.policy)):
        talk.surface.note(line)


COMMANDS: dict[str, Command] = {
    "help": Command("", "list the commands", _help, at_rest=False),
    "model": Command("[NAME]", "show the model, or ask another from now on", _model, at_rest=False),
    "thinking": Command(
        "[LEVEL|show|hide]", "how hard it thinks; show what it thinks", _thinking, at_rest=False
    ),
    "skill": Command(
        "[NAME|off|auto] [TEXT]", "list the skills, or work by another from now on", _skill
    ),
    "compact": Command("[FOCUS]", "summarise what was said before the newest", _compact),
    "tree": Command(
        "[ENTRY [summary [FOCUS]]]", "go on from another entry of the conversation", branches.tree
    ),
    "label": Command("[ENTRY] NAME", "name an entry, to find it again; - for none", branches.label),
    "rewind": Command(
        "[TURN|undo] [files|conversation]", "go back to the end of a turn", resting.rewind
    ),
    "diff": Command("", "show what is changed", resting.diff),
    "apply": Command("[GLOB…]", "bring changes to your directory", resting.apply),
    "discard": Command("yes", "drop all changes", resting.discard),
    "cost": Command("", "what the session came to", _cost, at_rest=False),
    "policy": Command("", "show every setting and rule that holds", _policy, at_rest=False),
    "fork": Command("[ENTRY]", "copy the conversation into another session", branches.fork),
    "export": Command(
        "[FILE]", "write it as .html, .md or .jsonl, without secrets", branches.export
    ),
    "abort": Command("", "stop the model and what it runs", _abort, at_rest=False),
    "quit": Command("", "leave; changes wait to be applied", _quit, at_rest=False),
}
"""Name to command, in the order of the help."""
