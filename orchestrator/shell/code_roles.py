"""Roles of code: shell text, scripts, plugins, settings that name programs."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import slice_word
from orchestrator.shell.makefiles import read_makefile
from orchestrator.shell.output import NOTHING
from orchestrator.shell.part import Part
from orchestrator.shell.programs import find_program
from orchestrator.shell.reading import anchor_in
from orchestrator.shell.scripts import SHELL, STANDARD_INPUT, report_unread, run_file, run_text
from orchestrator.shell.setting import Code
from orchestrator.shell.settings import judge_pair
from orchestrator.shell.source import Anchor
from orchestrator.shell.variables import is_harmless_program, is_plain_shell

_SPLIT_BLANK = re.compile(r"\\[_tnvfr]")
"""What ``env -S`` takes for a blank between words; taken for one inside quotes too."""


def judge_run(part: Part) -> None:
    """An option that makes a harmless tool run something."""
    if is_harmless_program(part.word.shape):
        return
    part.site.reading.report(
        "remote_code", f"{part.label} makes it run {part.shown}", part.word.span
    )
    code = Code(part.word.shape, anchor_in(part.word, part.word.shape))
    part.site.nested.shell(code, part.site.inner(part.label, feed=NOTHING).forked())


def judge_interpreter(part: Part) -> None:
    """A program that is given the work's own text, such as the shell that runs recipes."""
    if not is_plain_shell(part.word.shape):
        judge_run(part)


def judge_checkpoint(part: Part) -> None:
    """The action of ``--checkpoint-action``: ``exec=`` runs something, the others only print."""
    if part.word.shape.startswith("exec=") or part.word.value is None:
        judge_run(replace(part, word=slice_word(part.word, len("exec="))))


def judge_shell_text(part: Part) -> None:
    """Shell text for a shell of its own, judged by what it does."""
    run_text(SHELL, part.word, part.site.inner(part.label).forked())


def judge_entry(part: Part) -> None:
    """A value for package.json: what is stored under ``scripts`` is shell text."""
    key, _, _ = part.word.shape.partition("=")
    if key.startswith("scripts"):
        text = slice_word(part.word, len(key) + 1)
        run_text(SHELL, text, part.site.inner(part.label).forked())


def judge_own_text(part: Part) -> None:
    """Shell text that runs in the calling shell."""
    run_text(SHELL, part.word, part.site.inner(part.label))


def judge_trap(part: Part) -> None:
    """Shell text that runs at any time from now on: with what is known now, and at the end."""
    judge_own_text(replace(part, site=part.site.forked()))
    part.site.reading.uncalled[f"trap {part.word.span}"] = lambda: judge_own_text(part)


def judge_split(part: Part) -> None:
    """Words in one argument that the remaining arguments are appended to: env's ``-S``."""
    if part.word.value is None:
        report_unread(part.word, part.site)
        return
    if "${" in part.word.value:
        report_unread(part.word, part.site)
    try:
        pieces = shlex.split(_SPLIT_BLANK.sub(" ", part.word.value))
    except ValueError:
        report_unread(part.word, part.site)
        return
    words = [Word(piece, part.word.raw, part.word.span, shape=piece) for piece in pieces]
    part.site.nested.command([*words, *part.use.tail], part.site.inner(part.label))


def judge_script(part: Part) -> None:
    """A file of code to run."""
    run_file(part.use.spec.stdin or SHELL, part.word, part.site)


def judge_module(part: Part) -> None:
    """A Python module, by the entry of its own name, or by that of a program called like it."""
    module = part.word.shape.removesuffix(".__main__")
    file = module.replace(".", "/") + ".py"
    run_file("python", replace(part.word, value=file, shape=file), part.site)
    name = f"-m {module}" if find_program(f"-m {module}") else module
    word = replace(part.word, value=part.word.value and name, shape=name)
    part.site.nested.command([word, *part.use.tail], part.site)


def judge_config(part: Part) -> None:
    """Settings from elsewhere, which can name programs to run."""
    if part.word.shape in {"/dev/null", "none", ""}:
        return
    part.site.reading.report(
        "remote_code",
        f"{part.label} takes settings from {part.shown}, which can name programs to run",
        part.word.span,
    )


def judge_project(part: Part) -> None:
    """A settings file: the work's own when it lies in the workspace."""
    path = part.path
    if path is None or not part.site.scope.inside(path):
        judge_config(part)


def judge_plugin(part: Part) -> None:
    """A plugin or library that is loaded."""
    part.site.reading.report(
        "remote_code", f"{part.label} loads code from {part.shown}", part.word.span
    )


def judge_makefile(part: Part) -> None:
    """A makefile of the workspace is the work's own; others and standard input are not."""
    if part.word.shape in STANDARD_INPUT:
        text = part.site.setting.feed.text
        if text is None:
            part.site.reading.report("opaque", "reads a makefile from its input", part.word.span)
            return
        read_makefile(Code(text, Anchor(part.site.setting.feed.span, None)), part.site)
        return
    path = part.path
    content = part.site.scope.files.get(path) if path is not None else None
    if content is not None and content.text is not None:
        read_makefile(Code(content.text, Anchor(part.word.span, None)), part.site)
    elif content is not None:
        judge_config(part)
    else:
        judge_project(part)


def judge_makecode(part: Part) -> None:
    """Text of a makefile."""
    read_makefile(Code(part.word.shape, anchor_in(part.word, part.word.shape)), part.site)


def judge_stored_pair(table: str, part: Part) -> None:
    """A key and, in the next operand, the value it is set to for good."""
    operands = part.use.operands
    if len(operands) < 2 or operands[0] is not part.word:
        return
    if not judge_pair(table, part.word.shape, operands[1], site=part.site):
        part.site.reading.report(
            "persistence", f"{part.label} changes {part.shown} for good", part.word.span
        )
