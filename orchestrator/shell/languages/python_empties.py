"""Files that Python code empties: opened for writing, or written, with nothing put into them.

Counterpart of the shell's ``> file``. A file that is opened and then written is like ``cmd > file``
and is left to the rules on writes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from orchestrator.shell.languages.python_names import Names

_OPENERS = frozenset({"open", "builtins.open", "io.open", "codecs.open"})
_WRITERS = frozenset({"write", "write_text", "write_bytes", "writelines"})


def find_emptied(nodes: Iterable[ast.AST], names: Names) -> Iterator[ast.expr]:
    """Yield each expression that leaves a file empty."""
    nodes = list(nodes)
    used = _used_names(nodes)
    for node in nodes:
        if isinstance(node, ast.Expr):
            found = _closed(node.value)
            if _truncates(found, names):
                yield node.value
        elif isinstance(node, ast.Assign) and _truncates(node.value, names):
            targets = [item.id for item in node.targets if isinstance(item, ast.Name)]
            if not used.intersection(targets):
                yield node.value
        elif isinstance(node, ast.With) and all(isinstance(s, ast.Pass) for s in node.body):
            yield from (i.context_expr for i in node.items if _truncates(i.context_expr, names))
        elif isinstance(node, ast.Call) and _writes_nothing(node, names):
            yield node


def _closed(node: ast.expr) -> ast.expr:
    """Return ``x`` for ``x.close()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == "close" else node
    return node


def _truncates(node: ast.expr, names: Names) -> bool:
    """Say whether an expression opens a file in mode ``w``."""
    if not isinstance(node, ast.Call):
        return False
    method = isinstance(node.func, ast.Attribute) and node.func.attr == "open"
    plain = names.dotted(node.func) in _OPENERS
    if not (plain or method):
        return False
    index = 1 if plain else 0
    keyword = next((item.value for item in node.keywords if item.arg == "mode"), None)
    mode = node.args[index] if len(node.args) > index else keyword
    return mode is not None and names.text(mode).startswith("w")


def _writes_nothing(node: ast.Call, names: Names) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _WRITERS:
        return False
    if not node.args or names.text(node.args[0]) != "":
        return False
    return node.func.attr != "write" or _truncates(node.func.value, names)


def _used_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are read other than to close what they stand for."""
    closed = {
        id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "close"
    }
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in closed
    }
