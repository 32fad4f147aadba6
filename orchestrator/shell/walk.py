"""The walk over a syntax tree: statements in order, with the shell state each one sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from orchestrator.shell import assignments, redirects
from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.commands import judge_command
from orchestrator.shell.exhaustion import judge_function, judge_loop
from orchestrator.shell.integrity import judge_tree, lost_dashes
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import MAX_DEPTH, OverLimitError
from orchestrator.shell.setting import Code, Environment, Site
from orchestrator.shell.source import Source
from orchestrator.shell.words import EXPANSIONS, Words

_MAX_UNROLLED = 16
_SKIPPED = frozenset({"comment", "heredoc_body", "heredoc_start", "heredoc_end", "file_redirect"})
_BRANCHES = frozenset(
    {"elif_clause", "else_clause", "case_item", "do_group", "compound_statement"}
)


class Reader:
    """The one ``Nested``: makes a walker for each text."""

    def shell(self, code: Code, site: Site) -> Output:
        """Read shell text as if it stood in the command; return what it prints."""
        if site.setting.depth > MAX_DEPTH:
            raise OverLimitError(f"code nested more than {MAX_DEPTH} levels deep")
        source = Source(code.text, code.anchor)
        return Walker(source, site).walk()

    def function(self, name: str, argv: list[Word], site: Site) -> Output:
        """Read a function's body with these arguments."""
        source, body = site.scope.functions[name]
        setting = replace(site.setting, calls=(*site.setting.calls, name), redirects=())
        before = site.scope.positional
        site.scope.positional = tuple(word.shape for word in argv)
        inner = replace(site, setting=setting).inner(f"function {name}")
        output = Walker(source, inner).visit(body)
        site.scope.positional = before
        return output

    def command(self, argv: list[Word], site: Site) -> Output:
        """Read one argument list as a command."""
        return judge_command(argv, site)


class Walker:
    """Walks one source at one site."""

    def __init__(self, source: Source, site: Site) -> None:
        """Keep the source; every statement sees ``site`` as its surroundings."""
        self._source = source
        self.site = site
        self._words = Words(source, site.scope, self._substitute)
        self._pending: dict[int, list[Node]] = {}

    def walk(self) -> Output:
        """Read the whole source; return what its last statement prints."""
        judge_tree(self._source, self.site.reading)
        return self.visit(self._source.root)

    def visit(self, node: Node) -> Output:
        """Read one node of any kind."""
        if node.id in self._pending and node.type != "command":
            return self._block(node, self._pending.pop(node.id))
        handler = _HANDLERS.get(node.type)
        if handler is not None:
            return handler(self, node)
        if node.type in EXPANSIONS:
            self._words.text(node)
            return NOTHING
        return self._children(node)

    def _children(self, node: Node) -> Output:
        output = NOTHING
        for child in node.children:
            if child.is_named and child.type not in _SKIPPED:
                output = _both(output, self.visit(child))
        return output

    def _at(self, site: Site) -> Walker:
        walker = Walker(self._source, site)
        walker._pending = self._pending
        return walker

    def _substitute(self, node: Node) -> str | None:
        """Read a substitution in a subshell; return its output where that is static."""
        setting = replace(
            self.site.setting, feed=_substitution_input(node), pipes_into=None, piped_from=None,
            span=(0, 0), environment=(), redirects=(), origin="$()",
            depth=self.site.setting.depth + 1,
        )  # fmt: skip
        if setting.depth > MAX_DEPTH * 2:
            raise OverLimitError("substitutions nested too deeply")
        child = self._at(replace(self.site.forked(), setting=setting))
        output = child._substituted(node)
        self.site.reading.outputs.append((self._source.span(node), output))
        return output.text if output.kind == "text" else None

    def _substituted(self, node: Node) -> Output:
        output = self._children(node)
        if any(child.type == "file_redirect" for child in node.children):
            read = redirects.read_redirects(node, self._words, self._source, self.site)
            return read.feed or output
        return output

    def _command(self, node: Node) -> Output:
        """Read a simple command with the redirections in and around it."""
        pairs = assignments.read_prefix(node, self._words, self._source, self.site)
        around = self._pending.pop(node.id, [])
        argv = self._argv(node)
        read = self._redirections([node, *around])
        for nodes in read.extra:
            argv += self._words.expand(nodes)
        argv += [dash for outer in around for dash in self._lost_dash(outer)]
        site = self._redirected_site(read, self._source.span(node), pairs)
        output = judge_command(argv, site) if argv else NOTHING
        return redirects.finish(read, argv, output, site)

    def _redirections(self, nodes: Sequence[Node]) -> redirects.Redirections:
        read = redirects.Redirections()
        for node in nodes:
            read = read.joined(
                redirects.read_redirects(node, self._words, self._source, self.site)
            )
        return read

    def _redirected_site(
        self, read: redirects.Redirections, span: Span, pairs: Environment = ()
    ) -> Site:
        setting = replace(
            self.site.setting,
            environment=(*self.site.setting.environment, *pairs),
            redirects=(*self.site.setting.redirects, *read.redirects),
            feed=read.feed if read.feed is not None else self.site.setting.feed,
            span=span,
        )
        return replace(self.site, setting=setting)

    def _lost_dash(self, node: Node) -> list[Word]:
        """Return the ``-`` before a heredoc, which tree-sitter drops."""
        found: list[Word] = []
        for start, end in lost_dashes(node, self._source):
            found.append(Word("-", "-", self._source.locate(start, end), shape="-"))
        return found

    def _argv(self, node: Node) -> list[Word]:
        words: list[Word] = []
        for group in _adjacent(_argument_nodes(node)):
            words += self._words.expand(group)
        return words

    def _redirected(self, node: Node) -> Output:
        """Read a redirected statement; bash binds redirections to its last command alone."""
        body = next((c for c in node.children if c.type not in redirects.REDIRECT_TYPES), None)
        if body is None:
            read = self._redirections([node])
            site = self._redirected_site(read, self._source.span(node))
            output = redirects.finish(read, [], NOTHING, site)
        else:
            self._pending.setdefault(_last_command(body).id, []).append(node)
            output = self.visit(body)
        return self._after_heredoc(node, output)

    def _block(self, node: Node, around: list[Node]) -> Output:
        read = self._redirections(around)
        site = self._redirected_site(read, (0, 0))
        output = self._at(site).visit(node)
        return redirects.finish(read, [], output, site)

    def _after_heredoc(self, node: Node, output: Output) -> Output:
        """Read what stands on a heredoc's first line after its mark; the tree hides it in there."""
        for redirect in node.children:
            if redirect.type != "heredoc_redirect":
                continue
            for child in redirect.children:
                if child.type == "pipeline":
                    output = self._pipe([c for c in child.children if c.is_named], output)
                elif child.is_named and child.type not in redirects.HEREDOC_PARTS:
                    output = self._maybe([child])
        return output

    def _pipeline(self, node: Node) -> Output:
        return self._pipe([child for child in node.children if child.is_named], None)

    def _pipe(self, members: Sequence[Node], feed: Output | None) -> Output:
        """Read the members of a pipeline, each in a subshell with the one before as its input."""
        names = [self._program(member) for member in members]
        output = feed if feed is not None else self.site.setting.feed
        piped_from = feed.producer if feed is not None else self.site.setting.piped_from
        for index, member in enumerate(members):
            setting = replace(
                self.site.setting,
                feed=output,
                piped_from=piped_from,
                pipes_into=names[index + 1] if index + 1 < len(names) else self.site.setting.pipes_into,
            )
            output = self._at(replace(self.site.forked(), setting=setting)).visit(member)
            piped_from = names[index]
        return output

    def _program(self, node: Node) -> str | None:
        """Return the name a pipeline's member starts with, as far as it is plain text."""
        name = node.child_by_field_name("name") or node.child_by_field_name("body")
        if name is not None and name.type == "command":
            name = name.child_by_field_name("name")
        text = self._source.of(name) if name is not None else ""
        return text.rpartition("/")[2] if text and not set(text) & set("$`'\"\\ ") else None

    def _list(self, node: Node) -> Output:
        """Read ``a && b || c``; what follows the first may not have run."""
        items = _chain(node)
        output = self.visit(items[0][1])
        before = self.site.scope.fork()
        for operator, item in items[1:]:
            if operator == "&&":
                output = _both(output, self.visit(item))
            else:
                output = _both(output, self._maybe([item]))
        self.site.scope.merge(before)
        return output

    def _maybe(self, nodes: Sequence[Node]) -> Output:
        """Read nodes that may not run."""
        before = self.site.scope.fork()
        output = NOTHING
        for node in nodes:
            output = _both(output, self.visit(node))
        self.site.scope.merge(before)
        return output

    def _subshell(self, node: Node) -> Output:
        return self._at(self.site.forked())._children(node)

    def _branching(self, node: Node) -> Output:
        """Read an if or a case: conditions run, branches may."""
        output = NOTHING
        before = self.site.scope.fork()
        for child in node.children:
            if child.is_named and child.type not in _SKIPPED:
                output = _both(output, self.visit(child))
                if child.type in _BRANCHES:
                    self.site.scope.merge(before)
        self.site.scope.merge(before)
        return output

    def _while(self, node: Node) -> Output:
        judge_loop(node, self._source, self.site.reading)
        for name in assignments.assigned_names(node, self._source):
            self.site.scope.assign(name, DYNAMIC)
        return self._maybe([child for child in node.children if child.is_named])

    def _for(self, node: Node) -> Output:
        """Read a for loop; short static lists are read once for each item."""
        judge_loop(node, self._source, self.site.reading)
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        items = [
            word
            for group in _adjacent(node.children_by_field_name("value"))
            for word in self._words.expand(group)
        ]
        if name is None or body is None:
            return self._maybe([child for child in node.children if child.is_named])
        inner = assignments.assigned_names(body, self._source)
        static = 0 < len(items) <= _MAX_UNROLLED and not any(
            word.value is None or word.glob for word in items
        )
        values = [word.shape for word in items] if static else [DYNAMIC]
        output = NOTHING
        for value in values:
            for changed in inner:
                self.site.scope.assign(changed, DYNAMIC)
            self.site.scope.assign(self._source.of(name), value)
            if value == DYNAMIC and all(self._is_own(word) for word in items):
                self.site.scope.origins[self._source.of(name)] = Output("paths")
            output = _both(output, self._maybe([body]))
        self.site.scope.assign(self._source.of(name), DYNAMIC)
        return output if len(values) == 1 else Output("data")

    def _is_own(self, word: Word) -> bool:
        """Say whether a list's item can only be a path in the workspace."""
        path = self.site.scope.absolute(word.shape) if word.value is not None else None
        return path is not None and self.site.scope.inside(path)

    def _function(self, node: Node) -> Output:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return NOTHING
        text = self._source.of(name)
        judge_function(text, body, self._source, self.site.reading)
        self.site.scope.functions[text] = (self._source, body)
        self._read_uncalled(text, body)
        return NOTHING

    def _read_uncalled(self, name: str, body: Node) -> None:
        """Read a function's body with unknown arguments: who calls it may stand elsewhere."""
        setting = replace(
            self.site.setting, calls=(*self.site.setting.calls, name), feed=NOTHING,
            origin=f"function {name}", depth=self.site.setting.depth + 1,
        )  # fmt: skip
        site = replace(self.site.forked(), setting=setting)
        site.scope.positional = None
        self._at(site).visit(body)

    def _assignment(self, node: Node) -> Output:
        assignments.assign_all([node], self._words, self._source, self.site)
        return NOTHING

    def _assignments(self, node: Node) -> Output:
        assignments.assign_all(node.children, self._words, self._source, self.site)
        return NOTHING

    def _declaration(self, node: Node) -> Output:
        return assignments.declare(node, self._words, self._source, self.site)

    def _test(self, node: Node) -> Output:
        """Read the substitutions of ``[[ … ]]`` and ``[ … ]``."""
        for child in node.children:
            if child.type in EXPANSIONS or child.type in {"string", "concatenation"}:
                self._words.text(child)
            elif child.child_count:
                self._test(child)
        return NOTHING


def _substitution_input(node: Node) -> Output:
    """What ``>(…)`` reads is what others write, which is not followed."""
    return Output("data") if node.children and node.children[0].type == ">(" else NOTHING


def _both(first: Output, second: Output) -> Output:
    """Return the output of two statements in a row."""
    if first.kind == "none":
        return second
    if second.kind == "none":
        return first
    if "download" in {first.kind, second.kind}:
        return Output("download")
    if first.kind == second.kind == "text" and first.text is not None and second.text is not None:
        return Output("text", first.text + second.text, first.span)
    return Output("data", reads_files=first.reads_files or second.reads_files)


def _last_command(node: Node) -> Node:
    """Return the part of a statement that a redirection after it belongs to."""
    while True:
        if node.type in {"pipeline", "negated_command"}:
            node = [child for child in node.children if child.is_named][-1]
        elif node.type == "list":
            node = node.children[-1]
        elif node.type == "redirected_statement":
            body = node.child_by_field_name("body")
            if body is None:
                return node
            node = body
        else:
            return node


def _chain(node: Node) -> list[tuple[str, Node]]:
    """Return the parts of a left-nested list, each with the operator before it."""
    items: list[tuple[str, Node]] = []
    while node.type == "list" and node.child_count >= 3:
        items.append((node.children[1].type, node.children[2]))
        node = node.children[0]
    return [("", node), *reversed(items)]


def _argument_nodes(node: Node) -> list[Node]:
    nodes: list[Node] = []
    for child in node.children:
        if child.type == "command_name":
            nodes.extend(child.children)
        elif child.type not in redirects.REDIRECT_TYPES and child.type != "variable_assignment":
            nodes.append(child)
    return nodes


def _adjacent(nodes: Sequence[Node]) -> list[list[Node]]:
    """Group nodes that touch: bash takes them for one word."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].end_byte == node.start_byte:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


Handler = Callable[[Walker, Node], Output]
_HANDLERS: dict[str, Handler] = {
    "command": Walker._command,
    "redirected_statement": Walker._redirected,
    "pipeline": Walker._pipeline,
    "list": Walker._list,
    "subshell": Walker._subshell,
    "if_statement": Walker._branching,
    "case_statement": Walker._branching,
    "while_statement": Walker._while,
    "for_statement": Walker._for,
    "c_style_for_statement": Walker._while,
    "function_definition": Walker._function,
    "variable_assignment": Walker._assignment,
    "variable_assignments": Walker._assignments,
    "declaration_command": Walker._declaration,
    "unset_command": Walker._declaration,
    "test_command": Walker._test,
}
