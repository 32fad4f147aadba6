"""Builtins that change what the shell knows: directory, variables, aliases, arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import slice_word
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.printing import printed
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import anchor_in
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.variables import judge_variable

_NAME = re.compile(r"([A-Za-z_]\w*)(\[[^]]*\])?(\+?=)?")
_HIDDEN_CODE = re.compile(r"\[[^]]*(\$\(|`)")
Builtin = Callable[[Sequence[Word], Site], Output | None]


def find_builtin(name: str) -> Builtin | None:
    """Return how a builtin changes the shell's state; None for all other programs."""
    return _BUILTINS.get(name)


def assign(name: str, value: Word, site: Site, *, keep: bool = True) -> None:
    """Set a variable and judge what that does to later programs."""
    is_code = judge_variable(name, value, site)
    if is_code and value.value is not None:
        code = Code(value.shape, anchor_in(value, value.shape))
        site.nested.shell(code, site.inner(name, feed=NOTHING).forked())
    if keep:
        site.scope.assign(name, value.shape)


def _cd(words: Sequence[Word], site: Site) -> None:
    targets = [word for word in words if not re.fullmatch(r"-[LPe@]+|--", word.shape)]
    scope = site.scope
    if not targets:
        scope.cwd = scope.absolute("~")
    elif targets[0].shape == "-":
        scope.cwd = None
    else:
        scope.change_directory(targets[0])


def _forget_directory(_words: Sequence[Word], site: Site) -> None:
    site.scope.cwd = None


def _declare(words: Sequence[Word], site: Site) -> None:
    for word in words:
        match = _NAME.match(word.shape)
        if match is not None and match[3]:
            assign(match[1], slice_word(word, match.end()), site)
        elif word.value is None and not word.shape.startswith("-"):
            site.reading.report("opaque", "sets a variable that cannot be seen", word.span)
    _check_subscripts(words, site)


def _forget(words: Sequence[Word], site: Site) -> None:
    """``read``, ``mapfile``, ``getopts``, ``unset``: the named variables are not known any more."""
    for word in words:
        if re.fullmatch(r"[A-Za-z_]\w*", word.shape):
            site.scope.assign(word.shape, DYNAMIC)
            if site.setting.feed.reads_files:
                site.scope.origins[word.shape] = Output("data", reads_files=True)
            if word.shape in {"PATH", "LD_PRELOAD", "BASH_ENV", "PROMPT_COMMAND"}:
                assign(word.shape, replace(word, value=None, shape=DYNAMIC), site)
    _check_subscripts(words, site)


def _printf(words: Sequence[Word], site: Site) -> Output | None:
    if not words or not words[0].shape.startswith("-v"):
        return None
    rest = list(words[1:])
    target = slice_word(words[0], 2) if len(words[0].shape) > 2 else rest.pop(0) if rest else None
    if target is not None and target.value is not None:
        fake = Word("printf", "printf", target.span, shape="printf")
        text = printed([fake, *rest], None, site)
        shape = text.text if text.kind == "text" and text.text is not None else DYNAMIC
        value = replace(target, value=None if DYNAMIC in shape else shape, shape=shape, raw="")
        assign(target.value, value, site)
        _check_subscripts([target], site)
    return NOTHING


def _check_subscripts(words: Sequence[Word], site: Site) -> None:
    """``a[$(x)]`` runs x wherever bash evaluates it as a variable's name."""
    for word in words:
        if _HIDDEN_CODE.search(word.shape):
            site.reading.report("opaque", "runs code inside a variable's index", word.span)


def _let(words: Sequence[Word], site: Site) -> None:
    for word in words:
        match = re.match(r"([A-Za-z_]\w*)\s*\W?=", word.shape)
        if match is not None:
            site.scope.assign(match[1], DYNAMIC)
    _check_subscripts(words, site)


def _set(words: Sequence[Word], site: Site) -> None:
    """``set -- a b`` replaces the arguments."""
    shapes = [word.shape for word in words]
    if "--" in shapes:
        at = shapes.index("--") + 1
    else:
        at = next((i for i, shape in enumerate(shapes) if shape[:1] not in {"-", "+"}), -1)
        if at < 0 or "-o" in shapes or any(re.fullmatch(r"-\w*o", shape) for shape in shapes):
            return
    old = site.scope.positional
    site.scope.positional = ((old or ("bash",))[0], *shapes[at:])


def _shift(words: Sequence[Word], site: Site) -> None:
    arguments = site.scope.positional
    if arguments is None:
        return
    count = words[0].shape if words else "1"
    if count.isdigit() and len(count) < 4:
        site.scope.positional = (arguments[0], *arguments[1 + int(count) :])
    else:
        site.scope.positional = None


def _alias(words: Sequence[Word], site: Site) -> None:
    for word in words:
        name, equals, value = word.shape.partition("=")
        if not equals:
            continue
        site.scope.aliases[name] = value
        if word.value is None:
            site.reading.report("opaque", "an alias whose command cannot be seen", word.span)
        code = Code(value, anchor_in(word, value))
        site.nested.shell(code, site.inner("alias", feed=NOTHING).forked())


def _unalias(words: Sequence[Word], site: Site) -> None:
    for word in words:
        site.scope.aliases.pop(word.shape, None)


_BUILTINS: dict[str, Builtin] = {
    "cd": _cd,
    "pushd": _cd,
    "popd": _forget_directory,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "readonly": _declare,
    "local": _declare,
    "read": _forget,
    "mapfile": _forget,
    "readarray": _forget,
    "getopts": _forget,
    "unset": _forget,
    "printf": _printf,
    "let": _let,
    "test": _check_subscripts,
    "set": _set,
    "shift": _shift,
    "alias": _alias,
    "unalias": _unalias,
}
