"""What a project wants run before the agent starts: in the box, through the gate, into the audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from orchestrator.dispatch.batch import PartialBatchError
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall
from orchestrator.schema.terminal_text import escape_terminal


async def run_first(
    dispatcher: Dispatcher,
    commands: Sequence[str],
    *,
    offered: bool,
    timeout_s: float,
    note: Callable[[str], None],
) -> None:
    """Run the commands one after the other; the first that fails or is refused ends it, with a note.

    ``offered`` says whether the run has the tool ``bash``; without it nothing may run a command.
    """
    if commands and not offered:
        note("image: postCreateCommand: not run, this session has no bash")
        return
    for number, command in enumerate(commands, 1):
        arguments = {"command": command, "timeout": timeout_s}
        call = ToolCall(CallId(f"post-create-{number}"), "bash", json.dumps(arguments), arguments)
        try:
            [result] = await dispatcher.dispatch([call])
            failed = result.is_error
        except PartialBatchError:
            failed = True
        if failed:
            note(f"image: postCreateCommand: {escape_terminal(command)}: it failed; going on")
            return
