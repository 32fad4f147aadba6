"""One argument list: what it runs once functions, aliases and wrappers are taken off, judged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile

from orchestrator.shell.analysis import SimpleCommand, Word
from orchestrator.shell.builtins import assign, find_builtin
from orchestrator.shell.found_arguments import fed_commands, filled, names_sought
from orchestrator.shell.invocation import Invocation, read_arguments, slice_word
from orchestrator.shell.knowledge import Spec, Wrap
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.printing import printed, span_of
from orchestrator.shell.programs import find_program
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import MAX_DEPTH, UNSEEN, OverLimitError, Reading, anchor_in
from orchestrator.shell.scripts import SHELL, report_unread, run_file, sources_of
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.shells import judge_shell
from orchestrator.shell.stand_ins import find_stand_in
from orchestrator.shell.text import judge_word
from orchestrator.shell.uses import judge_script, judge_use, moves, only_helps

_RESERVED = frozenset({"{", "}", "!"})
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=")
_PLAIN_NAME = re.compile(r"[\w./+-]+")
_MISPLACED = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "do", "done", "while", "until", "case", "esac",
     "select", "function", "[[", "]]"}
)  # fmt: skip


def judge_command(argv: Sequence[Word], site: Site) -> Output:
    """Judge one command and everything it runs in turn; return what it prints."""
    site.reading.step()
    words = _without_assignments(_without_reserved(argv), site)
    if not words:
        return NOTHING
    head = words[0]
    _judge_letters(words, site)
    if head.value is None or head.glob or not head.value:
        return _judge_unread(words, site)
    if head.raw in _MISPLACED:
        site.reading.report("opaque", f"a stray {head.raw}: bash reads this differently", head.span)
    name = head.value.rpartition("/")[2]
    if "/" in head.value:
        run_file(SHELL, head, site)
        copied = find_stand_in(head, site.scope)
        if copied is not None:
            name = copied
            head = replace(head, value=name, shape=name)
            words = [head, *words[1:]]
    elif not site.setting.no_lookup:
        if name in site.scope.functions and name not in site.setting.calls:
            _record(words, site)
            return site.nested.function(name, words, site)
        if name in site.scope.aliases:
            _run_alias(name, words, site)
    spec = find_program(name)
    if spec is None and name.startswith("git-"):
        words = [
            replace(head, value="git", shape="git"),
            slice_word(head, len(head.shape) - len(name) + 4),
            *words[1:],
        ]
        spec = find_program("git")
    if spec is None:
        _record(words, site)
        _judge_remote(None, words, site)
        _judge_passed_on(words, site)
        return printed(words, None, site)
    return _judge_known(spec, words, site)


def _judge_known(spec: Spec, words: list[Word], site: Site) -> Output:
    if spec.shell:
        _record(words, site)
        _judge_remote(spec, words, site)
        return judge_shell(words, site)
    use = read_arguments(words[1:], spec)
    if only_helps(use):
        _record(words, site)
        return Output("data")
    wraps = use.spec.wraps
    wraps = wraps if wraps is not None and not use.has(*wraps.unless) else None
    if wraps is None or use.sub or not use.tail:
        _record(words, site)
        if wraps is None:
            _judge_remote(use.spec, words, site)
    fork = site if wraps is None and not moves(use) else replace(site, scope=site.scope.fork())
    if wraps is not None and wraps.how == "here":
        fork = site
    judge_use(words, use, fork)
    builtin = find_builtin(words[0].shape)
    if builtin is not None:
        result = builtin(words[1:], site)
        if result is not None:
            return result
    judge_script(use, fork)
    _judge_runs(use, words, fork)
    if wraps is not None and (use.tail or wraps.appends):
        return _follow(wraps, use, words=words, site=fork)
    return printed(words, use, site)


def _judge_runs(use: Invocation, words: Sequence[Word], site: Site) -> None:
    """Judge the commands inside the arguments, with what they are filled in with."""
    for run in use.runs:
        inner = list(run.words)
        sought = names_sought(use)
        folder = _folder(use, unseen=not sought)
        for named in sought:
            found = [filled(word, ["{}"], f"{folder or '.'}/{DYNAMIC}/{named}") for word in inner]
            _run_inner(found, Wrap(), label=words[0].shape, site=site.forked())
        appends = use.spec.appends and not any("{" in word.shape for word in inner)
        inner = [_replaced(word, "{}", folder) for word in inner]
        if appends:
            inner.append(_unseen(words[0]))
        _run_inner(inner, Wrap(replaces="{}"), label=words[0].shape, site=site)


def _folder(use: Invocation, *, unseen: bool) -> str:
    """Return where find looks; with ``unseen`` also one that is not static, else nothing for it."""
    if not use.operands:
        return "."
    first = use.operands[0]
    return first.shape if first.value or unseen else ""


def _judge_passed_on(words: Sequence[Word], site: Site) -> None:
    """Report what a program nobody described may be asked to run: ``torify git push``.

    It must begin at the first argument that is no option, or at the next, since an option may take
    a value; words of a message seldom do.
    """
    at = next(
        (
            i
            for i, word in enumerate(words)
            if i and word.shape[:1] != "-" and not _ASSIGNED.match(word.shape)
        ),
        len(words),
    )
    starts = range(at, at + 2 if at > 1 else at + 1)
    found = next((i for i in starts if i < len(words) and _is_program(words[i])), None)
    if found is None:
        return
    tried = Reading(outputs=site.reading.outputs, steps=site.reading.steps)
    inner = replace(site.forked(), reading=tried)
    _run_inner(list(words[found:]), Wrap(), label=words[0].shape, site=inner)
    site.reading.steps = tried.steps
    for finding in tried.findings.values():
        reason = f"may be run by {words[0].shape}: {finding.reason}"
        site.reading.report(
            finding.risk, reason, finding.span, severity=finding.severity, hint=finding.hint
        )


def _is_program(word: Word) -> bool:
    plain = word.value is not None and _PLAIN_NAME.fullmatch(word.value) is not None
    return plain and find_program((word.value or "").rpartition("/")[2]) is not None


def _record(words: Sequence[Word], site: Site) -> None:
    setting = site.setting
    value = words[0].value
    site.reading.add_command(
        SimpleCommand(
            argv=tuple(words),
            span=setting.span if setting.span != (0, 0) else span_of(words),
            program=value.rpartition("/")[2] if value else None,
            environment=setting.environment,
            redirects=setting.redirects,
            wrappers=setting.wrappers,
            cwd=site.scope.cwd,
            pipes_into=setting.pipes_into,
            piped_from=setting.piped_from,
            origin=setting.origin,
        )
    )


def _judge_unread(words: Sequence[Word], site: Site) -> Output:
    """A command word that is not static: nobody can say what would run."""
    _record(words, site)
    head = words[0]
    if any(output.kind == "download" for output in sources_of(head, site)):
        report_unread(head, site)
    else:
        site.reading.report(
            "opaque",
            "which program runs cannot be seen in the command",
            head.span,
            hint="write the program's name out",
        )
    return Output("data")


def _judge_letters(words: Sequence[Word], site: Site) -> None:
    """Report unquoted words that are not what they look like."""
    for word in words:
        if not word.raw.isascii() and word.raw == word.shape:
            for finding in judge_word(word.raw, word.span, program=word is words[0]):
                site.reading.report(finding.risk, finding.reason, word.span, hint=finding.hint)


def _without_reserved(argv: Sequence[Word]) -> list[Word]:
    """Drop braces and ``!`` that the tree took for a command's name."""
    words = list(argv)
    while words and words[0].raw in _RESERVED:
        words.pop(0)
    return words


def _without_assignments(words: list[Word], site: Site) -> list[Word]:
    """Take off assignments that stand after a keyword the tree took for a command: ``time A=1 x``."""
    at = 0
    while at < len(words) and (match := _ASSIGNED.match(words[at].raw)):
        assign(match[1], slice_word(words[at], match.end()), site)
        at += 1
    return words[at:]


def _run_alias(name: str, words: Sequence[Word], site: Site) -> None:
    texts, rest = [site.scope.aliases[name]], list(words[1:])
    while texts[-1][-1:].isspace() and rest and rest[0].shape in site.scope.aliases:
        # After a blank at its end, bash looks the next word up as well.
        texts.append(site.scope.aliases[rest.pop(0).shape])
    line = " ".join([*texts, *(word.raw for word in rest)])
    code = Code(line, anchor_in(words[0], "\0"))
    setting = replace(site.setting, calls=(*site.setting.calls, name))
    child = replace(site, setting=setting, scope=site.scope.fork())
    child.scope.aliases.pop(name)
    site.nested.shell(code, child.inner("alias"))


def _judge_remote(spec: Spec | None, words: Sequence[Word], site: Site) -> None:
    if site.setting.remote and (spec is None or not spec.readonly):
        site.reading.report("publishes", f"runs {words[0].raw} on another machine", span_of(words))


def _follow(wraps: Wrap, use: Invocation, *, words: Sequence[Word], site: Site) -> Output:
    """Judge the command inside a wrapper."""
    environment = site.setting.environment
    for word in use.assignments:
        name, _, _ = word.shape.partition("=")
        value = slice_word(word, len(name) + 1)
        assign(name, value, site, keep=False)
        environment = (*environment, (name, value.value))
    setting = replace(
        site.setting, environment=environment, remote=site.setting.remote or wraps.remote
    )
    if wraps.fed:
        setting = replace(setting, feed=Output("data"))
    inner = list(use.tail)
    if wraps.prefix and inner and (own := wraps.prefix + inner[0].shape) and find_program(own):
        inner[0] = replace(inner[0], value=own, shape=own)
    for value in use.values(*wraps.placeholder):
        inner = [_replaced(word, value.shape) for word in inner]
    label = " ".join([words[0].shape.rpartition("/")[2], *use.sub])
    if wraps.until:
        inner = list(takewhile(lambda word: word.shape not in wraps.until, inner))
    if wraps.sought:
        inner = list(dropwhile(lambda word: not _is_program(word), inner))
    if wraps.appends:
        child = replace(site, setting=replace(setting, feed=NOTHING))
        for words_fed in fed_commands(use, wraps, site.setting.feed):
            plain = wraps.model_copy(update={"replaces": ""})
            _run_inner(words_fed, plain, label=label, site=child.forked())
    if wraps.appends and not use.has(*wraps.placeholder):
        if inner:
            # An empty list of arguments: xargs runs the command all the same.
            _run_inner(inner, wraps, label=label, site=replace(site, setting=setting).forked())
        inner.append(_unseen(words[0]))
        if len(inner) == 1:
            return Output("data")
    return _run_inner(inner, wraps, label=label, site=replace(site, setting=setting))


def _run_inner(inner: list[Word], wraps: Wrap, *, label: str, site: Site) -> Output:
    setting = site.setting
    if setting.depth >= MAX_DEPTH:
        raise OverLimitError(f"commands nested more than {MAX_DEPTH} levels deep")
    if (
        wraps.named
        and len(inner) > 1
        and inner[1].raw in {"{", "("}
        and (inner[0].raw not in _MISPLACED)
    ):
        inner = inner[1:]
    if inner and inner[0].shape == "-":
        inner = inner[1:]
    if not inner:
        return NOTHING
    if wraps.replaces:
        inner = [_replaced(word, wraps.replaces) for word in inner]
    unseen = [] if wraps.quoted else [word for word in inner if word.value is None]
    setting = replace(
        setting,
        wrappers=(*setting.wrappers, label),
        depth=setting.depth + 1,
        no_lookup=setting.no_lookup or not wraps.functions,
    )
    child = replace(site, setting=setting)
    if wraps.how == "argv":
        return judge_command(inner, child)
    if len(inner) > 1 and not wraps.remote:
        # Some take several words as they stand: git's foreach always, watch with an option.
        judge_command(inner, child)
    text = " ".join(word.shape for word in inner)
    for word in unseen:
        report_unread(word, site)
    anchor = anchor_in(inner[0], text) if len(inner) == 1 else anchor_in(_joined(inner), text)
    child = child.inner(label)
    if wraps.how == "shell":
        child = child.forked()
    return site.nested.shell(Code(text, anchor), child)


def _joined(words: Sequence[Word]) -> Word:
    raw = " ".join(word.raw for word in words)
    span = span_of(words)
    straight = len(raw) == span[1] - span[0]
    return Word(None, raw if straight else "", span, shape="")


def _unseen(near: Word) -> Word:
    """Return the argument that is only found at run time."""
    return Word(None, UNSEEN, near.span, shape=DYNAMIC, splits=True)


def _replaced(word: Word, mark: str, folder: str = "") -> Word:
    """Put U+FFFC where a text is filled in at run time, below ``folder`` where that is known."""
    if not mark or mark not in word.shape:
        return word
    unseen = f"{folder.rstrip('/')}/{DYNAMIC}" if folder else DYNAMIC
    return replace(word, value=None, raw=UNSEEN, shape=word.shape.replace(mark, unseen))
