"""What a command hits, told so that other spellings and additions are known again after a no.

Coarser than ``acts_of`` alone, and so for denials only: a yes is compared by digest or pattern, and
what was shown of a started program (``shown``) word by word.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from orchestrator.policy.acts import OF_PLACES, place, program_of, split_words, text_of
from orchestrator.schema.likeness import Act
from orchestrator.shell.analysis import SimpleCommand
from orchestrator.shell.invocation import Invocation, Option, read_arguments
from orchestrator.shell.programs import find_program

_TOLD_BY_RISK = OF_PLACES | {"publishes", "upload"}
"""Risks that say what an option may do: without ``--force`` a push is no longer destructive."""
_ALL_OF = {
    "--all": "--all",
    "--branches": "--all",
    "--mirror": "--mirror",
    "--tags": "--tags",
}
"""Options of ``git push`` that stand for refs."""
_HEADS = re.compile(r"\A(?:refs/)?heads/")


def coarse_act(kind: str, command: SimpleCommand) -> Act:
    """Return what the command hits, with sub-commands as a part of the program's name.

    Options without a value are left out where the risk tells what they do, and so are git's own
    before the sub-command; ``--to x`` is told as ``--to=x``.
    """
    program = program_of(command)
    spec = find_program(command.program or "")
    if spec is None or spec.shell:
        options, operands = split_words(command)
        valued = frozenset(option for option in options if "=" in option)
        return _act(Act(kind, program, options, operands), valued, command.cwd)
    use = read_arguments(command.argv[1:], spec)
    named = " ".join((program, *use.sub))
    if named == "git push" and kind in _TOLD_BY_RISK:
        return Act(kind, named, operands=_pushed(use))
    valued = frozenset(_valued(use))
    bare = {option.name for option in use.options if option.value is None}
    told = Act(kind, named, valued | bare, tuple(_operands(use)))
    if spec.style == "single":
        # Another test makes find hit less, not more.
        tests = " ".join(sorted(valued))
        told = _act(replace(told, options=frozenset(bare)), frozenset(), _where(command, use))
        return replace(told, operands=(" ".join((*told.operands, tests)),))
    return _act(told, valued, _where(command, use))


def _act(told: Act, valued: frozenset[str], cwd: str | None) -> Act:
    if told.kind not in _TOLD_BY_RISK:
        return told
    operands = told.operands
    if told.kind in OF_PLACES:
        # Without operands it hits what lies where it runs.
        operands = tuple(place(text, cwd) for text in operands or (".",))
    return replace(told, options=valued, operands=operands)


def _valued(use: Invocation) -> Iterator[str]:
    for option in use.options:
        if option.value is not None and not _own(use, option):
            yield f"{option.name}={text_of(option.value)}"


def _operands(use: Invocation) -> Iterator[str]:
    inner = [word for run in use.runs for word in run.words]
    words = (*use.operands, *use.assignments, *inner, *use.tail)
    # A dash alone is standard input, which is there anyway.
    yield from (text for word in words if (text := text_of(word)) != "-")


def _own(use: Invocation, option: Option) -> bool:
    """Say whether it is git's own and not its sub-command's."""
    git, *subs = use.specs
    return (
        git is find_program("git")
        and option.name in git.takes_value
        and not any(option.name in sub.takes_value for sub in subs)
    )


def _where(command: SimpleCommand, use: Invocation) -> str | None:
    moves = [
        text_of(option.value)
        for option in use.options
        if option.name == "-C" and option.value is not None and _own(use, option)
    ]
    return posixpath.join(command.cwd or "", *moves) if moves else command.cwd


def _pushed(use: Invocation) -> tuple[str, ...]:
    """Return the repository and what a push changes in it, each by one name."""
    words = [text_of(word) for word in use.operands]
    given = [text_of(word) for word in use.values("--repo")]
    # Git takes --repo only where no operand names the repository; here either may.
    repository = given or words[:1] or [""]
    refs = words if given else words[1:]
    told = [_changed(ref) for ref in refs]
    told += [_ALL_OF[option.name] for option in use.options if option.name in _ALL_OF]
    # Without a name git pushes the branch it is on.
    return (*repository[-1:], *(told or ["HEAD"]))


def _changed(refspec: str) -> str:
    """Return what ``[+]SRC[:DST]`` changes over there, by its short name."""
    source, _, target = refspec.removeprefix("+").partition(":")
    return _HEADS.sub("", target or source) or refspec
