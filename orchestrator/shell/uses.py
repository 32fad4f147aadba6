"""One program's use, judged by its table entry: rules, roles of its words, code it is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from orchestrator.shell.accesses import judge_unpacking
from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.copies import follow_copy
from orchestrator.shell.invocation import Invocation
from orchestrator.shell.part import Part
from orchestrator.shell.printing import span_of
from orchestrator.shell.reading import UNSEEN
from orchestrator.shell.roles import judge_part
from orchestrator.shell.rules import Facts, holds
from orchestrator.shell.scripts import run_file, run_input, sources_of
from orchestrator.shell.setting import Site

_MAX_WORD = 2_000
_MAX_LINE = 16_000
"""Characters of arguments that patterns are tried on."""

_ELSEWHERE = re.compile(r"[\w@.\[\]-]+:|\w+://")


def only_helps(use: Invocation) -> bool:
    """Say whether the program is asked for help before anything else."""
    first = use.operands[0].span[0] if use.operands else None
    helps = {name for spec in use.specs for name in spec.help}
    return any(
        option.name in helps and (first is None or option.word.span[0] < first)
        for option in use.options
    )


def judge_use(argv: Sequence[Word], use: Invocation, site: Site) -> None:
    """Report what the program's entry says of these arguments."""
    name = (argv[0].value or "").rpartition("/")[2]
    label = " ".join([name, *use.sub])
    span = span_of(argv)
    if use.unread_sub is not None:
        site.reading.report(
            "opaque", f"which {label} command it is cannot be seen", use.unread_sub.span
        )
    for level in range(len(use.specs)):
        _judge_rules(use, level, argv=argv, site=site)
    _judge_parts(use, argv, label=label, site=site)
    if any(spec.sends for spec in use.specs):
        _judge_sending(argv, label, site)
    spec = use.spec
    if spec.copies:
        follow_copy(use, site)
    if spec.unpacks:
        _follow_unpacking(use, span, site)
    if spec.transfers:
        _follow_transfer(use, site)
    takes_script = spec.script and use.operands
    if spec.stdin and not takes_script and not _has_inline_code(use):
        run_input(spec.stdin, span, site)


def _judge_parts(use: Invocation, argv: Sequence[Word], *, label: str, site: Site) -> None:
    """Judge every word that has a role, and the files that the program looks for by itself."""
    for option in use.options:
        if option.value is not None and (role := _option_role(use, option.name)):
            shown = f"{label} {option.name}"
            judge_part(Part(role, option.value, shown, use, site))
    for word, role in _operand_roles(use):
        judge_part(Part(role, word, label, use, site))
    span = span_of(argv)
    for path, role in _files_found(use, site):
        judge_part(Part(role, Word(path, "", span, shape=path), label, use, site))


def _files_found(use: Invocation, site: Site) -> list[tuple[str, str]]:
    """Return the files of this very command that the program looks for, with their roles."""
    scope = site.scope
    roles = {name: role for spec in use.specs for name, role in spec.reads.items()}
    folder = (scope.cwd or "").rstrip("/") + "/"
    return [
        (path, role)
        for path in scope.files
        for name, role in roles.items()
        if path == scope.absolute(name)
        or (name[:3] == "**/" and path.startswith(folder) and _named(path, name[3:]))
    ]


def _named(path: str, name: str) -> bool:
    return fnmatchcase(path.rpartition("/")[2], name)


def _judge_rules(use: Invocation, level: int, *, argv: Sequence[Word], site: Site) -> None:
    """Judge by the program's entry (level 0) or that of a sub-command; each sees what follows it."""
    spec = use.specs[level]
    span = span_of(argv)
    report = site.reading.report
    if spec.risk is not None:
        reason = spec.reason or f"{' '.join(use.sub[:level])} needs a yes"
        report(spec.risk, reason, span, severity=spec.severity, hint=spec.hint)
    if not spec.rules:
        return
    line = " ".join(_cut(word.shape) for word in argv[1:])
    if len(line) > _MAX_LINE:
        report("opaque", "more arguments than can be judged", span)
        return
    scope = site.scope
    facts = Facts(
        line=line,
        words=" ".join([*use.sub[level:], *(_cut(word.shape) for word in use.operands)]),
        fresh=all(scope.is_fresh(scope.absolute(word.shape)) for word in use.operands),
        fed=site.setting.feed.kind != "none" and site.setting.feed.text != "",
        outside=_works_outside(use, site),
    )
    for rule in spec.rules:
        if holds(rule, use, facts):
            report(rule.risk, rule.reason, span, severity=rule.severity, hint=rule.hint)


def moves(use: Invocation) -> bool:
    """Say whether an option makes it work in another directory, which the shell does not follow."""
    return bool(_folders(use))


def _folders(use: Invocation) -> list[Word]:
    return [
        option.value
        for option in use.options
        if option.value is not None and _option_role(use, option.name) == "dir"
    ]


def _works_outside(use: Invocation, site: Site) -> bool:
    """Say whether its directory, its options counted, is known to lie outside the workspace."""
    scope = site.scope.fork()
    for folder in _folders(use):
        scope.change_directory(folder)
    return scope.cwd is not None and not scope.inside(scope.cwd)


def _cut(text: str) -> str:
    """Keep both ends of a very long argument: patterns look for short marks."""
    return text if len(text) <= _MAX_WORD else f"{text[: _MAX_WORD // 2]} {text[-_MAX_WORD // 2 :]}"


def _option_role(use: Invocation, name: str) -> str:
    for spec in reversed(use.specs):
        if name in spec.roles:
            return spec.roles[name]
    return ""


def _operand_roles(use: Invocation) -> list[tuple[Word, str]]:
    """Return every operand that has a role, with it."""
    spec = use.spec
    operands = use.operands
    roles = [_given_role(use) or spec.operands] * len(operands)
    if operands and spec.first and not use.has(*spec.instead):
        roles[0] = spec.first
    if len(operands) > 1 and spec.last and not _given_role(use):
        roles[-1] = spec.last
    return [(word, role) for word, role in zip(operands, roles, strict=True) if role]


def _given_role(use: Invocation) -> str:
    return next((role for name, role in use.spec.given.items() if use.has(name)), "")


def _has_inline_code(use: Invocation) -> bool:
    return any(
        _option_role(use, option.name).startswith(("code:", "module", "script"))
        for option in use.options
    )


def _follow_transfer(use: Invocation, site: Site) -> None:
    """Remember that what came from another machine was fetched."""
    if len(use.operands) < 2 or not any(_ELSEWHERE.match(w.shape) for w in use.operands[:-1]):
        return
    place = site.scope.absolute(use.operands[-1].shape)
    if place is not None and not _ELSEWHERE.match(use.operands[-1].shape):
        site.scope.fetched.add(place)


def _follow_unpacking(use: Invocation, span: Span, site: Site) -> None:
    """Judge where an archive goes, and remember that what comes out of a fetched one was fetched."""
    spec = use.spec
    if spec.unpacks_with and not use.has(*spec.unpacks_with):
        return
    folder = next(iter(use.values(*spec.into)), None)
    if folder is None and not spec.into and len(use.operands) > 1:
        folder = use.operands[-1]
    place = site.scope.absolute(folder.shape) if folder is not None else site.scope.cwd
    if place is not None:
        judge_unpacking(place, folder.span if folder is not None else span, site)
    archives = [*use.operands, *use.values("-f", "--file")]
    paths = [site.scope.absolute(word.shape) for word in archives]
    contents = [site.scope.files.get(path) for path in paths if path is not None]
    fetched = any(content is not None and content.kind == "download" for content in contents)
    if place is not None and (fetched or site.setting.feed.kind == "download"):
        site.scope.fetched.add(place)


def _judge_sending(argv: Sequence[Word], label: str, site: Site) -> None:
    """Report file content that is put into an argument of a program that sends it off."""
    for word in argv[1:]:
        if word.value is not None:
            continue
        sources = [*sources_of(word, site)]
        if word.raw == UNSEEN:
            sources.append(site.setting.feed)
        if any(output.reads_files for output in sources):
            site.reading.report("upload", f"{label} sends what was read from a file", word.span)


def judge_script(use: Invocation, site: Site) -> None:
    """Judge the file of code that an interpreter is given."""
    language = use.spec.stdin
    if use.spec.script and use.operands and language and not _has_inline_code(use):
        run_file(language, use.operands[0], site)
