"""What the value of an option, or an operand, makes a program do: one judge for each role."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.shell import code_roles, file_roles, transfer_roles
from orchestrator.shell.packages import judge_package
from orchestrator.shell.part import Part
from orchestrator.shell.scripts import run_file, run_text
from orchestrator.shell.settings import judge_setting


def judge_part(part: Part) -> None:
    """Judge one word by its role."""
    name, _, argument = part.role.partition(":")
    if name == "code":
        run_text(argument, part.word, part.site.inner(part.label))
    elif name == "script" and argument:
        run_file(argument, part.word, part.site)
    elif name == "setting":
        judge_setting(argument, part.word, part.site)
    elif name == "pair":
        code_roles.judge_stored_pair(argument, part)
    else:
        _JUDGES[name](part)


def judged_roles() -> frozenset[str]:
    """Return every role without an argument that has a judge."""
    return frozenset(_JUDGES)


def _nothing(_part: Part) -> None:
    """Plain text does nothing."""


def _judge_config(part: Part) -> None:
    """Settings from elsewhere may be an address: a registry's, an index's."""
    code_roles.judge_config(part)
    transfer_roles.judge_address(part)


_JUDGES: dict[str, Callable[[Part], None]] = {
    "data": _nothing,
    "url": transfer_roles.judge_address,
    "read": file_roles.judge_shown,
    "copy": file_roles.judge_copied,
    "write": file_roles.judge_written,
    "assigned": file_roles.judge_assigned,
    "edited": file_roles.judge_edited,
    "sink": file_roles.judge_sink,
    "replaced": file_roles.judge_replaced,
    "delete": file_roles.judge_removed,
    "moved": file_roles.judge_moved,
    "target": file_roles.judge_target,
    "victim": file_roles.judge_victim,
    "save": transfer_roles.judge_saved,
    "remote": transfer_roles.judge_remote,
    "fetch": transfer_roles.judge_fetched,
    "source": transfer_roles.judge_source,
    "upload": transfer_roles.judge_upload,
    "at": transfer_roles.judge_at,
    "form": transfer_roles.judge_form,
    "encoded": transfer_roles.judge_encoded,
    "run": code_roles.judge_run,
    "interpreter": code_roles.judge_interpreter,
    "checkpoint": code_roles.judge_checkpoint,
    "shell": code_roles.judge_shell_text,
    "here": code_roles.judge_own_text,
    "trap": code_roles.judge_trap,
    "split": code_roles.judge_split,
    "script": code_roles.judge_script,
    "module": code_roles.judge_module,
    "config": _judge_config,
    "project": code_roles.judge_project,
    "loads": code_roles.judge_plugin,
    "package": judge_package,
    "entry": code_roles.judge_entry,
    "makefile": code_roles.judge_makefile,
    "makecode": code_roles.judge_makecode,
    "dir": lambda part: part.site.scope.change_directory(part.word),
}
