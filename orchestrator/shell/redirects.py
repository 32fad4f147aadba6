"""Redirections: what a command reads and writes beside its arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from orchestrator.shell import places
from orchestrator.shell.accesses import judge_read, judge_write
from orchestrator.shell.analysis import Redirect, Span, Word
from orchestrator.shell.contents import remember
from orchestrator.shell.heredocs import find_missed
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.quoting import DYNAMIC, undo_heredoc
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.source import Anchor, Source
from orchestrator.shell.standing import Standing
from orchestrator.shell.words import EXPANSIONS

REDIRECT_TYPES = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect", "ERROR"})
HEREDOC_PARTS = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "file_redirect",
                           "herestring_redirect", "file_descriptor"})  # fmt: skip
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_COPY = re.compile(r"\d+-?|-")
_TRUNCATING = frozenset({">", ">|", "&>"})


@dataclass(slots=True)
class Redirections:
    """The redirections of one statement, read."""

    redirects: list[Redirect] = field(default_factory=list)
    feed: Output | None = None
    """Standard input, where it was redirected."""
    targets: list[tuple[str, str, Span]] = field(default_factory=list)
    """Operator, path and span of what receives standard output."""
    extra: list[list[Node]] = field(default_factory=list)
    """Arguments that the tree keeps inside a heredoc."""

    def joined(self, other: Redirections) -> Redirections:
        """Return both, the other's input last."""
        return Redirections(
            [*self.redirects, *other.redirects],
            other.feed or self.feed,
            [*self.targets, *other.targets],
            [*self.extra, *other.extra],
        )


def read_redirects(node: Node, at: Standing) -> Redirections:
    """Read and judge the redirections among a node's children."""
    read = Redirections()
    reader = _Reader(read, at)
    source = at.source
    for child in node.children:
        if child.type == "file_redirect":
            reader.file(child)
        elif child.type == "herestring_redirect":
            reader.here_string(child.children[-1], source.span(child))
        elif child.type == "heredoc_redirect":
            reader.heredoc(child)
    return read


def finish(read: Redirections, output: Output, *, argv: Sequence[Word], site: Site) -> Output:
    """Say what is left on standard output, and remember what went into files."""
    if not read.targets:
        return output
    program = argv[0].value if argv else ""
    for operator, path, span in read.targets:
        remember(path, output, site.scope, append=operator in {">>", "&>>"})
        if operator in _TRUNCATING and _prints_nothing(argv, output) and program is not None:
            _judge_truncation(path, span, site)
        elif _is_endless(argv):
            site.reading.report("exhaustion", "fills a file without end", span)
    return Output("none")


def _prints_nothing(argv: Sequence[Word], output: Output) -> bool:
    if not argv:
        return output.kind == "none"
    return output.kind == "text" and output.text == "" and argv[0].value is not None


def _is_endless(argv: Sequence[Word]) -> bool:
    shapes = [word.shape for word in argv]
    if not shapes:
        return False
    return shapes[0] == "yes" or (
        shapes[0] == "cat"
        and any(shape in {"/dev/zero", "/dev/urandom", "/dev/random"} for shape in shapes)
    )


def _judge_truncation(path: str, span: Span, site: Site) -> None:
    absolute = site.scope.absolute(path)
    if absolute is not None and places.kind_of(absolute) == "harmless":
        return
    site.reading.report("destructive", f"empties a file: {path}", span)


class _Reader:
    def __init__(self, read: Redirections, at: Standing) -> None:
        self.read = read
        self.words = at.words
        self.source = at.source
        self.site = at.site

    def file(self, node: Node) -> None:
        operator = _operator(node, self.source)
        targets = node.children_by_field_name("destination")
        span = self.source.span(node)
        self.read.extra.extend([[extra] for extra in targets[1:]])
        if not targets:
            self.read.redirects.append(Redirect(operator, None, span, writes=False))
            return
        if _is_misread_here_string(node, self.source):
            self.here_string(targets[0], span)
            return
        shape = self.words.text(targets[0])
        if operator in {">&", "<&"} and _COPY.fullmatch(shape):
            if operator == "<&" and shape not in {"0", "-"}:
                self.read.feed = Output("data")
            self.read.redirects.append(Redirect(operator, None, span, writes=False))
            return
        value = None if DYNAMIC in shape else shape
        self.read.redirects.append(Redirect(operator, value, span, writes=operator in _WRITING))
        descriptor = next(
            (self.source.of(c) for c in node.children if c.type == "file_descriptor"), ""
        )
        self._judge(operator, descriptor, shape=shape, target=targets[0])

    def _judge(self, operator: str, descriptor: str, *, shape: str, target: Node) -> None:
        span = self.source.span(target)
        if target.type == "process_substitution":
            if operator == "<":
                outputs = self.site.reading.outputs_in(span)
                self.read.feed = outputs[-1] if outputs else Output("data")
            return
        if operator in _WRITING:
            judge_write(shape, span, self.site)
            if descriptor in {"", "1"} and operator != "<>":
                self.read.targets.append((operator, shape, span))
        if operator in {"<", "<>", "<&"}:
            judge_read(shape, span, self.site)
            if descriptor in {"", "0"}:
                self.read.feed = self._file_output(shape)

    def _file_output(self, shape: str) -> Output:
        path = self.site.scope.absolute(shape)
        if path == "/dev/null":
            return Output("text", "")
        content = self.site.scope.files.get(path) if path is not None else None
        if content is not None and content.kind == "download":
            return Output("download")
        if content is not None and content.text is not None:
            return Output("text", content.text)
        return Output("file", reads_files=True)

    def here_string(self, node: Node, span: Span) -> None:
        shape = self.words.text(node)
        value = None if DYNAMIC in shape else shape
        self.read.redirects.append(Redirect("<<<", value, span, writes=False))
        outputs = self.site.reading.outputs_in(self.source.span(node))
        kind = next((out.kind for out in outputs if out.kind == "download"), "text")
        self.read.feed = Output(
            "download" if kind == "download" else "text",
            shape + "\n",
            self.source.span(node),
            self.source.of(node),
            reads_files=any(out.reads_files for out in outputs),
        )

    def heredoc(self, node: Node) -> None:
        span = self.source.span(node)
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        quoted = start is not None and bool(set("'\"\\") & set(self.source.of(start)))
        raw = self.source.of(body) if body is not None else ""
        shape = raw if quoted or body is None else self._expanded(body)
        if self.source.of(node).startswith("<<-"):
            shape = re.sub(r"^\t+", "", shape, flags=re.MULTILINE)
        self.read.redirects.append(Redirect("<<", None, span, writes=False))
        where = self.source.span(body) if body is not None else span
        outputs = self.site.reading.outputs_in(where) if not quoted else []
        self.read.feed = Output(
            "text", shape, where, raw, reads_files=any(out.reads_files for out in outputs)
        )
        for child in node.children:
            if child.type == "file_redirect":
                self.file(child)
            elif child.type == "herestring_redirect":
                self.here_string(child.children[-1], self.source.span(child))
        arguments = node.children_by_field_name("argument")
        self.read.extra.extend([[argument] for argument in arguments])

    def _expanded(self, body: Node) -> str:
        """Return the shape of a body that bash expands; read the code the tree has missed."""
        span = self.source.span(body)
        pieces: list[str] = []
        at = body.start_byte
        parts = [child for child in body.children if child.type in EXPANSIONS]
        for part in [*parts, None]:
            end = body.end_byte if part is None else part.start_byte
            pieces.append(self._literal(self.source.text(at, end), span))
            if part is not None:
                pieces.append(self.words.quoted(part))
                at = part.end_byte
        return "".join(pieces)

    def _literal(self, text: str, span: Span) -> str:
        missed = find_missed(text)
        if missed.broken:
            self.site.reading.report("opaque", "a substitution that does not end", span)
        for code in missed.codes:
            inner = self.site.inner("$()", feed=NOTHING).forked()
            self.site.nested.shell(Code(code, Anchor(span, None)), inner)
        return undo_heredoc(missed.text)


def _is_misread_here_string(node: Node, source: Source) -> bool:
    before = node.prev_sibling
    return before is not None and before.is_error and source.of(before) == "<<"


def _operator(node: Node, source: Source) -> str:
    signs = [source.of(c) for c in node.children if not c.is_named or c.is_error]
    return "<>" if signs[:2] == ["<", ">"] else signs[0] if signs else ""
