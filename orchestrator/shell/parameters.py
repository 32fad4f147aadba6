"""Parameter expansion: ``$x``, ``${x:-y}``, ``$1``, ``"$@"``, arrays, as far as it is static."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from orchestrator.shell.quoting import BREAK, DYNAMIC, EMPTY, shield
from orchestrator.shell.scope import Scope, Value

_NAME = re.compile(r"\$\{?([A-Za-z_]\w*|[0-9]+|[@*#?$!_-])\}?")
_ARRAY = re.compile(r"\$\{([A-Za-z_]\w*)\[([@*]|\d+)\]\}")
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*|\d)(:?[-=])")


class Parameters:
    """Expands parameters of one scope."""

    def __init__(self, scope: Scope, pattern: Callable[[Node], str]) -> None:
        """Keep the scope; ``pattern`` reads a word inside an expansion, with its substitutions."""
        self._scope = scope
        self._pattern = pattern

    def expand(self, node: Node, text: str, *, quoted: bool) -> str:
        """Return the parameter's value, or ``DYNAMIC``; substitutions inside are always read."""
        plain = _NAME.fullmatch(text)
        if plain is not None:
            return self._plain(plain[1], quoted=quoted)
        inner = self._read_inside(node)
        element = _ARRAY.fullmatch(text)
        if element is not None:
            return self._element(element[1], element[2], quoted=quoted)
        default = _DEFAULT.match(text)
        if default is not None and default[1] in self._scope.variables:
            known = self._scope.variables[default[1]]
            return self._placed(known or inner, quoted=quoted)
        return DYNAMIC

    def _plain(self, name: str, *, quoted: bool) -> str:
        if name in {"@", "*"}:
            arguments = self._scope.positional
            if arguments is None:
                return DYNAMIC
            return self._placed(arguments[1:], quoted=quoted, joined=name == "*")
        if name.isdigit():
            arguments = self._scope.positional
            if arguments is None:
                return DYNAMIC
            index = int(name) if len(name) < 4 else len(arguments)
            return self._placed(arguments[index] if index < len(arguments) else "", quoted=quoted)
        return self._placed(self._scope.lookup(name), quoted=quoted)

    def _element(self, name: str, index: str, *, quoted: bool) -> str:
        value = self._scope.lookup(name)
        items = value if isinstance(value, tuple) else (value,)
        if index in {"@", "*"}:
            return self._placed(items, quoted=quoted, joined=index == "*")
        position = int(index) if len(index) < 6 else len(items)
        return self._placed(items[position] if position < len(items) else "", quoted=quoted)

    def _placed(self, value: Value, *, quoted: bool, joined: bool = False) -> str:
        if value == ():
            return EMPTY if quoted and not joined else ""
        if isinstance(value, tuple):
            separator = " " if quoted and joined else BREAK
            return separator.join(self._placed(item, quoted=quoted) for item in value)
        if quoted:
            return shield(value)
        return self._fields(value)

    def _fields(self, value: str) -> str:
        """Split an unquoted value where the field separators say; braces in it are inert."""
        separators = self._scope.lookup("IFS")
        if not isinstance(separators, str) or DYNAMIC in separators:
            return DYNAMIC if value else ""
        if separators:
            value = re.sub(f"[{re.escape(separators)}]+", BREAK, value)
        return value.replace("{", shield("{")).replace("~", shield("~"))

    def _read_inside(self, node: Node) -> str:
        """Read every substitution in a complex expansion; return its last word's pattern."""
        last = ""
        for child in node.children:
            if child.is_named and child.type not in {"variable_name", "special_variable_name"}:
                last = self._pattern(child)
        return last
