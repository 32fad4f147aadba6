"""Code that a command runs from a file or from its standard input."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.effects import judge_code
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import UNSEEN, anchor_in
from orchestrator.shell.scope import Content
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.source import Anchor

STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
SHELL = "shell"
_ADDRESS = re.compile(r"(https?|ftp)://", re.IGNORECASE)
_SPLICED = frozenset({"sed"})
"""Languages whose reader itself tells text from commands where parts are not static."""


def run_text(language: str, word: Word, site: Site) -> Output | None:
    """Judge the code that a word is; say what it prints if it is shell text."""
    if word.value is None:
        if language not in _SPLICED or word.shape.startswith(DYNAMIC):
            report_unread(word, site)
        if not word.shape.replace(DYNAMIC, "").strip():
            return None
    code = Code(word.shape, anchor_in(word, word.shape))
    if language == SHELL:
        return site.nested.shell(code, site)
    judge_code(language, code, site)
    return None


def report_unread(word: Word, site: Site) -> None:
    """Report code that the command does not show; fetched code is worse than opaque."""
    kinds = {output.kind for output in sources_of(word, site)}
    if "download" in kinds:
        site.reading.report(
            "remote_code", "runs code that it downloads", word.span, severity="high"
        )
    else:
        site.reading.report(
            "opaque",
            "runs code that is not in the command",
            word.span,
            hint="write the code out, or put it into a file of the workspace first",
        )


def sources_of(word: Word, site: Site) -> Iterable[Output]:
    """Return what is known of the substitutions and variables in a word."""
    yield from site.reading.outputs_in(word.span)
    for name, output in site.scope.origins.items():
        if "$" + name in word.raw or "${" + name in word.raw:
            yield output


def stream_of(word: Word, site: Site) -> Output | None:
    """Return what a path of a stream yields: standard input or a substitution; None for files."""
    if word.shape in STANDARD_INPUT:
        return site.setting.feed
    outputs = site.reading.outputs_in(word.span) if word.shape.startswith("/dev/fd/") else []
    return outputs[-1] if outputs else None


def run_input(language: str, span: Span, site: Site) -> None:
    """Judge code that is read from standard input."""
    feed = site.setting.feed
    if feed.kind == "none":
        return
    if feed.kind == "text" and feed.text is not None:
        _run_output(language, feed, site)
    elif feed.kind == "download":
        site.reading.report("remote_code", "runs code that it downloads", span, severity="high")
    else:
        site.reading.report("opaque", "runs code from its input, which is not in the command", span)


def _run_output(language: str, feed: Output, site: Site) -> None:
    text = feed.text or ""
    if DYNAMIC in text:
        site.reading.report("opaque", "runs code of which parts are not in the command", feed.span)
    at = feed.raw.find(text) if text else -1
    anchor = Anchor(feed.span, feed.span[0] + at if at >= 0 else None)
    code = Code(text, anchor)
    inner = site.inner("stdin", feed=NOTHING).forked()
    if language == SHELL:
        site.nested.shell(code, inner)
    else:
        judge_code(language, code, inner)


def run_file(language: str, word: Word, site: Site) -> None:
    """Judge a script file: one that this command fetched or wrote, or one of the workspace."""
    if word.shape in STANDARD_INPUT:
        run_input(language, word.span, site)
        return
    if word.shape.startswith("/dev/fd/"):
        for output in site.reading.outputs_in(word.span) or [Output("data")]:
            run_input(language, word.span, _fed(site, output))
        return
    if word.value is None:
        kinds = {output.kind for output in sources_of(word, site)}
        if "download" in kinds or (_is_unseen(word) and kinds != {"paths"}):
            report_unread(word, site)
        return
    if _ADDRESS.match(word.value):
        site.reading.report(
            "remote_code", f"runs {word.value}, which it downloads", word.span, severity="high"
        )
        return
    path = site.scope.absolute(word.value)
    content = site.scope.files.get(path) if path is not None else None
    if content is not None:
        _run_content(content, language, word, site=site)
    elif path is not None and site.scope.fetched_into(path):
        site.reading.report(
            "remote_code", f"runs {word.value}, which it downloads", word.span, severity="high"
        )
    elif path is not None and path.startswith("/dev/tcp/"):
        site.reading.report("remote_code", "runs code from the network", word.span)


def _is_unseen(word: Word) -> bool:
    return word.shape == DYNAMIC or word.raw == UNSEEN


def _fed(site: Site, output: Output) -> Site:
    return site.fed(output if output.kind != "none" else Output("data"))


def _run_content(content: Content, language: str, word: Word, *, site: Site) -> None:
    if content.kind == "download":
        site.reading.report(
            "remote_code", f"runs {word.shape}, which it downloads", word.span, severity="high"
        )
    elif content.kind == "text" and content.text is not None:
        fed = Output("text", content.text, word.span, "")
        _run_output(language, fed, site)
    else:
        site.reading.report(
            "opaque", f"runs {word.shape}, whose content is not in the command", word.span
        )
