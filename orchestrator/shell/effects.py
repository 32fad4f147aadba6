"""Effects of nested code, judged as if the shell had done the same."""

from __future__ import annotations

from orchestrator.shell import places
from orchestrator.shell.accesses import judge_read, judge_write
from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.deletes import delete_path, empties_root
from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.languages.read import read_code
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import MAX_DEPTH, OverLimitError
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.source import Anchor

_GLOB_MARKS = frozenset("*?[")


def judge_code(language: str, code: Code, site: Site) -> None:
    """Read code in another language and report what it does."""
    if site.setting.depth >= MAX_DEPTH:
        raise OverLimitError(f"code nested more than {MAX_DEPTH} levels deep")
    inner = site.inner(language, feed=NOTHING)
    for effect in read_code(language, code.text):
        _judge(effect, code, inner)


def _judge(effect: Effect, code: Code, site: Site) -> None:
    span = _span(effect, code)
    text = effect.text
    reading, scope = site.reading, site.scope
    kind = effect.kind
    if kind == "shell":
        _run_shell(effect, code, site)
    elif kind == "pipe":
        _run_shell(effect, code, site.fed(Output("data")))
    elif kind == "argv":
        words = [_word(item, span) for item in effect.words]
        if words:
            site.nested.command(words, site)
    elif kind == "python":
        judge_code("python", Code(text, Anchor(span, None)), site)
    elif kind == "delete" or kind == "delete_tree":  # noqa: PLR1714 - narrows the literal
        glob = bool(_GLOB_MARKS.intersection(text))
        tree = kind == "delete_tree"
        delete_path(text, span, site, tree=tree, glob=glob, grave=tree and empties_root(text))
    elif kind == "move":
        path = scope.absolute(text)
        if path is not None and not scope.inside(path):
            delete_path(text, span, site, tree=False)
    elif kind == "write":
        judge_write(text, span, site)
    elif kind == "read":
        judge_read(text, span, site)
    else:
        reading.report(kind, effect.reason, span)


def _run_shell(effect: Effect, code: Code, site: Site) -> None:
    span = _span(effect, code)
    if not effect.text.strip():
        return
    if places.kind_of(effect.text) == "socket":
        # awk's ``|& "/inet/…"``: a connection, not a program.
        judge_write(effect.text, span, site)
        return
    if DYNAMIC in effect.text:
        site.reading.report("opaque", "runs a command of which parts are not in the code", span)
    if effect.text == DYNAMIC:
        return
    at = code.text.find(effect.text, effect.start, effect.end)
    start = code.anchor.start
    anchor = Anchor(span, start + at if start is not None and at >= 0 else None)
    site.nested.shell(Code(effect.text, anchor), site.forked())


def _span(effect: Effect, code: Code) -> Span:
    return code.anchor.place(effect.start, effect.end)


def _word(shape: str, span: Span) -> Word:
    value = None if DYNAMIC in shape else shape
    return Word(value, shape, span, shape=shape)
