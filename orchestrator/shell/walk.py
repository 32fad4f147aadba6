"""The walk over a syntax tree: statements in order, with the shell state each one sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from orchestrator.shell import assignments, control, redirects
from orchestrator.shell.adjacency import group_adjacent
from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.commands import judge_command
from orchestrator.shell.integrity import judge_tree, lost_dashes
from orchestrator.shell.output import NOTHING, Output, join_outputs
from orchestrator.shell.reading import MAX_DEPTH, OverLimitError
from orchestrator.shell.scope import Content
from orchestrator.shell.second_reading import note_second_reading
from orchestrator.shell.setting import Code, Environment, Site
from orchestrator.shell.source import Source
from orchestrator.shell.words import EXPANSIONS, Words

_MAX_SUBSTITUTIONS = 2 * MAX_DEPTH
_SKIPPED = frozenset({"comment", "heredoc_body", "heredoc_start", "heredoc_end", "file_redirect"})


class Reader:
    """The one ``Nested``: makes a walker for each text."""

    def shell(self, code: Code, site: Site) -> Output:
        """Read shell text as if it stood in the command; return what it prints."""
        if site.setting.depth > MAX_DEPTH:
            raise OverLimitError(f"code nested more than {MAX_DEPTH} levels deep")
        source = Source(code.text, code.anchor)
        judge_tree(source, site.reading)
        note_second_reading(source, site.reading)
        return Walker(source, site).visit(source.root)

    def function(self, name: str, argv: list[Word], site: Site) -> Output:
        """Read a function's body with these arguments."""
        site.reading.uncalled.pop(name, None)
        source, body = site.scope.functions[name]
        setting = replace(site.setting, calls=(*site.setting.calls, name), redirects=())
        before = site.scope.positional
        site.scope.positional = tuple(word.shape for word in argv)
        output = Walker(source, replace(site, setting=setting).inner(f"function {name}")).visit(
            body
        )
        site.scope.positional = before
        return output

    def command(self, argv: list[Word], site: Site) -> Output:
        """Read one argument list as a command."""
        return judge_command(argv, site)


class Walker:
    """Walks one source at one site."""

    def __init__(self, source: Source, site: Site) -> None:
        """Keep the source; every statement sees ``site`` as its surroundings."""
        self.source = source
        self.site = site
        self.words = Words(source, site.scope, self.substitute)
        self.pending: dict[int, list[Node]] = {}
        """Redirected statements by the node of the command they belong to."""

    def at(self, site: Site) -> Walker:
        """Return a walker of the same source at another site."""
        walker = Walker(self.source, site)
        walker.pending = self.pending
        return walker

    def visit(self, node: Node) -> Output:
        """Read one node of any kind; return what it prints."""
        if node.id in self.pending and node.type != "command":
            return self.block(node)
        handler = _HANDLERS.get(node.type)
        if handler is not None:
            return handler(self, node)
        if node.type in EXPANSIONS:
            self.words.text(node)
            return NOTHING
        return self.sequence(node)

    def sequence(self, node: Node) -> Output:
        """Read a node's children in order."""
        output = NOTHING
        files = self.site.scope.files
        waiting: list[tuple[Node, Walker, dict[str, Content]]] = []
        for child in node.children:
            if child.is_named and child.type not in _SKIPPED:
                parallel = child.next_sibling is not None and child.next_sibling.type == "&"
                then = self.at(self.site.forked()) if parallel else self
                output = join_outputs(output, self.visit(child))
                if parallel:
                    waiting.append((child, then, dict(files)))
        for child, then, before in waiting:
            if files != before:
                # What runs in the background may meet files that were written since.
                then.visit(child)
        return output

    def maybe(self, nodes: Sequence[Node]) -> Output:
        """Read nodes that may not run."""
        before = self.site.scope.fork()
        output = NOTHING
        for node in nodes:
            output = join_outputs(output, self.visit(node))
        self.site.scope.merge(before)
        return output

    def substitute(self, node: Node) -> str | None:
        """Read a substitution in a subshell; return its output where that is static."""
        setting = replace(
            self.site.setting,
            feed=_substitution_input(node),
            pipes_into=None,
            piped_from=None,
            span=(0, 0),
            environment=(),
            redirects=(),
            origin="$()",
            depth=self.site.setting.depth + 1,
        )
        if setting.depth > _MAX_SUBSTITUTIONS:
            raise OverLimitError("substitutions nested too deeply")
        child = self.at(replace(self.site.forked(), setting=setting))
        output = child.sequence(node)
        if any(part.type == "file_redirect" for part in node.children):
            read = redirects.read_redirects(node, child)
            output = read.feed or output
        self.site.reading.outputs.append((self.source.span(node), output))
        return output.text if output.kind == "text" else None

    def command(self, node: Node) -> Output:
        """Read a simple command with the redirections in and around it."""
        pairs = assignments.read_prefix(node, self)
        around = self.pending.pop(node.id, [])
        argv = self._argv(node)
        read = self._redirections([node, *around])
        for nodes in read.extra:
            argv += self.words.expand(nodes)
        argv += [dash for outer in around for dash in self._lost_dashes(outer)]
        site = self._redirected_site(read, self.source.span(node), pairs)
        if read.feed is not None and [word.shape for word in argv] == ["exec"]:
            site.scope.stdin = read.feed
        output = judge_command(argv, site) if argv else NOTHING
        return redirects.finish(read, output, argv=argv, site=site)

    def _argv(self, node: Node) -> list[Word]:
        words: list[Word] = []
        for group in group_adjacent(_argument_nodes(node)):
            words += self.words.expand(group)
        return words

    def _lost_dashes(self, node: Node) -> list[Word]:
        """Return the ``-`` before a heredoc, which tree-sitter drops."""
        return [
            Word("-", "-", self.source.locate(start, end), shape="-")
            for start, end in lost_dashes(node, self.source)
        ]

    def _redirections(self, nodes: Sequence[Node]) -> redirects.Redirections:
        read = redirects.Redirections()
        for node in nodes:
            read = read.joined(redirects.read_redirects(node, self))
        return read

    def _redirected_site(
        self, read: redirects.Redirections, span: Span, pairs: Environment = ()
    ) -> Site:
        feed = read.feed if read.feed is not None else self.site.setting.feed
        if feed.kind == "none" and self.site.scope.stdin is not None:
            feed = self.site.scope.stdin
        setting = replace(
            self.site.setting,
            environment=(*self.site.setting.environment, *pairs),
            redirects=(*self.site.setting.redirects, *read.redirects),
            feed=feed,
            span=span,
        )
        return replace(self.site, setting=setting)

    def redirected(self, node: Node) -> Output:
        """Read a redirected statement; bash binds redirections to its last command alone."""
        body = next((c for c in node.children if c.type not in redirects.REDIRECT_TYPES), None)
        if body is None:
            read = self._redirections([node])
            site = self._redirected_site(read, self.source.span(node))
            output = redirects.finish(read, NOTHING, argv=[], site=site)
        else:
            self.pending.setdefault(_last_command(body).id, []).append(node)
            output = self.visit(body)
        return self._after_heredoc(node, output)

    def block(self, node: Node) -> Output:
        """Read a compound statement with the redirections around it."""
        read = self._redirections(self.pending.pop(node.id))
        site = self._redirected_site(read, (0, 0))
        output = self.at(site).visit(node)
        return redirects.finish(read, output, argv=[], site=site)

    def _after_heredoc(self, node: Node, output: Output) -> Output:
        """Read what stands on a heredoc's first line after its mark; the tree hides it in there."""
        for redirect in node.children:
            if redirect.type != "heredoc_redirect":
                continue
            for child in redirect.children:
                if child.type == "pipeline":
                    output = self._pipe(control.statements(child), output)
                elif child.is_named and child.type not in redirects.HEREDOC_PARTS:
                    output = self.maybe([child])
        return output

    def pipeline(self, node: Node) -> Output:
        """Read a pipeline."""
        return self._pipe(control.statements(node), None)

    def _pipe(self, members: Sequence[Node], feed: Output | None) -> Output:
        """Read members in order, each in a subshell with the one before as its input."""
        names = [self._program(member) for member in members]
        surroundings = self.site.setting
        output = feed if feed is not None else surroundings.feed
        before = feed.producer if feed is not None else surroundings.piped_from
        for index, member in enumerate(members):
            after = names[index + 1] if index + 1 < len(names) else surroundings.pipes_into
            setting = replace(surroundings, feed=output, piped_from=before, pipes_into=after)
            output = self.at(replace(self.site.forked(), setting=setting)).visit(member)
            before = names[index]
        return output

    def _program(self, node: Node) -> str | None:
        """Return the name a pipeline's member starts with, as far as it is plain text."""
        name = node.child_by_field_name("name") or node.child_by_field_name("body")
        if name is not None and name.type == "command":
            name = name.child_by_field_name("name")
        text = self.source.of(name) if name is not None else ""
        return text.rpartition("/")[2] if text and not set(text) & set("$`'\"\\ ") else None

    def and_or(self, node: Node) -> Output:
        """Read ``a && b || c``; what follows the first may not have run."""
        items = _chain(node)
        output = self.visit(items[0][1])
        before = self.site.scope.fork()
        for operator, item in items[1:]:
            follows = self.visit(item) if operator == "&&" else self.maybe([item])
            output = join_outputs(output, follows)
        self.site.scope.merge(before)
        return output

    def subshell(self, node: Node) -> Output:
        """Read ``( … )``."""
        return self.at(self.site.forked()).sequence(node)

    def assignment(self, node: Node) -> Output:
        """Read assignments that stand alone."""
        nodes = node.children if node.type == "variable_assignments" else [node]
        assignments.assign_all(nodes, self)
        return NOTHING

    def declaration(self, node: Node) -> Output:
        """Read ``export`` and its kin."""
        return assignments.declare(node, self)

    def test(self, node: Node) -> Output:
        """Read the substitutions of ``[[ … ]]`` and ``[ … ]``."""
        for child in node.children:
            if child.type in EXPANSIONS or child.type in {"string", "concatenation"}:
                self.words.text(child)
            elif child.child_count:
                self.test(child)
        return NOTHING


def _substitution_input(node: Node) -> Output:
    """What ``>(…)`` reads is what others write, which is not followed."""
    return Output("data") if node.children and node.children[0].type == ">(" else NOTHING


def _last_command(node: Node) -> Node:
    """Return the part of a statement that a redirection after it belongs to."""
    while True:
        if node.type in {"pipeline", "negated_command", "list"}:
            node = control.statements(node)[-1]
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
    while node.type == "list" and len(control.statements(node)) == 2:
        first, second = control.statements(node)
        operator = next(child.type for child in node.children if child.type in {"&&", "||"})
        items.append((operator, second))
        node = first
    return [("", node), *reversed(items)]


def _argument_nodes(node: Node) -> list[Node]:
    nodes: list[Node] = []
    for child in node.children:
        if child.type == "command_name":
            nodes.extend(child.children)
        elif child.type not in redirects.REDIRECT_TYPES and child.type != "variable_assignment":
            nodes.append(child)
    return nodes


Handler = Callable[[Walker, Node], Output]
_HANDLERS: dict[str, Handler] = {
    "command": Walker.command,
    "redirected_statement": Walker.redirected,
    "pipeline": Walker.pipeline,
    "list": Walker.and_or,
    "subshell": Walker.subshell,
    "if_statement": control.read_branches,
    "case_statement": control.read_branches,
    "while_statement": control.read_while,
    "for_statement": control.read_for,
    "c_style_for_statement": control.read_while,
    "function_definition": control.read_function,
    "variable_assignment": Walker.assignment,
    "variable_assignments": Walker.assignment,
    "declaration_command": Walker.declaration,
    "unset_command": Walker.declaration,
    "test_command": Walker.test,
}
