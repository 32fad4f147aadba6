"""Which dotted name, and which text, a Python expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.shell.quoting import DYNAMIC

_IMPORTERS = frozenset({"__import__", "importlib.import_module", "builtins.__import__"})
_MAX_TEXT = 10_000


@dataclass(slots=True)
class Names:
    """Names of one program that can be followed."""

    modules: dict[str, str] = field(default_factory=dict)
    values: dict[str, ast.expr | None] = field(default_factory=dict)
    """Names with exactly one assignment; None for the others."""
    texts: dict[str, str] = field(default_factory=dict)
    """What names come to, found once: each may stand in the next many times."""

    @classmethod
    def collect(cls, nodes: Iterable[ast.AST]) -> Names:
        """Find imports and assignments anywhere in a program."""
        names = cls()
        for node in nodes:
            if isinstance(node, ast.Import):
                for item in node.names:
                    top = item.name if item.asname else item.name.split(".")[0]
                    names.modules[item.asname or top] = top
            elif isinstance(node, ast.ImportFrom):
                for item in node.names:
                    names.modules[item.asname or item.name] = f"{node.module}.{item.name}"
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                names._assign(node.targets[0], node.value)
            elif isinstance(node, ast.NamedExpr):
                names._assign(node.target, node.value)
            elif isinstance(node, ast.For | ast.comprehension | ast.AugAssign | ast.AnnAssign):
                names._assign(node.target, None)
            elif isinstance(node, ast.arg):
                names.values[node.arg] = None
        return names

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.values[target.id] = None if target.id in self.values else value
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._assign(item, None)

    def dotted(self, node: ast.expr, depth: int = 0) -> str:
        """Return the full name an expression stands for, ``?`` where it is computed."""
        if depth > 20:
            return "?"
        if isinstance(node, ast.Name):
            return self._name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return f"{self.dotted(node.value, depth + 1)}.{node.attr}"
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return "str"
        return "?"

    def _name(self, name: str, depth: int) -> str:
        if name in self.modules:
            return self.modules[name]
        value = self.values.get(name)
        if value is not None and isinstance(value, ast.Name | ast.Attribute | ast.Call):
            return self.dotted(value, depth + 1)
        return name

    def _call(self, node: ast.Call, depth: int) -> str:
        function = self.dotted(node.func, depth + 1)
        if function in _IMPORTERS and node.args:
            return self.text(node.args[0])
        if function in {"getattr", "builtins.getattr"} and len(node.args) >= 2:
            return f"{self.dotted(node.args[0], depth + 1)}.{self.text(node.args[1])}"
        return f"{function}()"

    def _subscript(self, node: ast.Subscript, depth: int) -> str:
        """Follow ``sys.modules['os']``, ``vars(os)['system']`` and ``os.__dict__['system']``."""
        base = self.dotted(node.value, depth + 1)
        key = self.text(node.slice)
        if base in {"sys.modules", "globals()", "locals()"}:
            return key
        if base.endswith(".__dict__") or base == "__builtins__":
            return f"{base.removesuffix('.__dict__')}.{key}"
        if base == "vars()" and isinstance(node.value, ast.Call) and node.value.args:
            return f"{self.dotted(node.value.args[0], depth + 1)}.{key}"
        return f"{base}[]"

    def text(self, node: ast.expr | None, depth: int = 0) -> str:
        """Return the text of an expression, ``DYNAMIC`` for what is computed."""
        if node is None or depth > 20:
            return DYNAMIC
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.JoinedStr):
            return _bounded("".join(self.text(part, depth + 1) for part in node.values))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            joint = "/" if isinstance(node.op, ast.Div) else ""
            left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
            return _bounded(left + joint + right)
        if isinstance(node, ast.Name) and self.values.get(node.id) is not None:
            if node.id not in self.texts:
                self.texts[node.id] = DYNAMIC
                self.texts[node.id] = self.text(self.values[node.id], depth + 1)
            return self.texts[node.id]
        if isinstance(node, ast.Call):
            return self._path(node, depth)
        return DYNAMIC

    def _constant(self, node: ast.Constant) -> str:
        if isinstance(node.value, bytes):
            return node.value.decode("utf-8", "replace")
        return str(node.value)

    def _path(self, node: ast.Call, depth: int) -> str:
        """Follow ``Path('a')``, ``os.path.join`` and ``expanduser``; all else is computed."""
        name = self.dotted(node.func, depth + 1)
        last = name.rpartition(".")[2]
        if last in {"Path", "PurePath", "PosixPath", "fspath", "str", "expanduser", "abspath"}:
            inner = node.args[0] if node.args else None
            if inner is None and isinstance(node.func, ast.Attribute):
                inner = node.func.value
            return self.text(inner, depth + 1) if inner is not None else "."
        if last in {"join", "joinpath"} and name != "str.join" and node.args:
            return _bounded("/".join(self.text(part, depth + 1) for part in node.args))
        if last == "home":
            return "~"
        return DYNAMIC

    def words(self, node: ast.expr | None) -> tuple[str, ...] | None:
        """Return the texts of a list or tuple; None when the expression is neither."""
        if isinstance(node, ast.Name) and self.values.get(node.id) is not None:
            node = self.values[node.id]
        if isinstance(node, ast.List | ast.Tuple):
            return tuple(self.text(item) for item in node.elts)
        if isinstance(node, ast.Call) and self.dotted(node.func) in {"shlex.split", "str.split"}:
            source = node.args[0] if node.args else getattr(node.func, "value", None)
            return tuple(self.text(source).split())
        return None


def _bounded(text: str) -> str:
    """Return a text that is put together, as long as a person would read it."""
    return text if len(text) <= _MAX_TEXT else DYNAMIC
