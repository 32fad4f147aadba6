"""Parameter expansion: ``$x``, ``${x:-y}``, ``$1``, ``"$@"``, arrays, as far as it is static."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from orchestrator.shell.changes import change
from orchestrator.shell.quoting import BREAK, DYNAMIC, EMPTY, shield, unshield
from orchestrator.shell.scope import Scope, Value

_NAME = re.compile(r"\$\{?([A-Za-z_]\w*|[0-9]+|[@*#?$!_-])\}?")
_ARRAY = re.compile(r"\$\{([A-Za-z_]\w*)\[([@*]|\d+)\]\}")
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*|\d)(:?[-=+])")
_INDIRECT = re.compile(r"\$\{!([A-Za-z_]\w*)\}")
_CHANGED = re.compile(r"\$\{([A-Za-z_]\w*|\d)(?:\[(\d+)\])?([^\w\[].*)\}", re.DOTALL)


class Parameters:
    """Expands parameters of one scope."""

    def __init__(self, scope: Scope, pattern: Callable[[Node], str]) -> None:
        """Keep the scope; ``pattern`` reads a word inside an expansion, with its substitutions."""
        self._scope = scope
        self._pattern = pattern

    def expand(self, node: Node, text: str, *, quoted: bool) -> str:
        """Return the parameter's value, or ``DYNAMIC``; substitutions inside are always read."""
        found = self._expand(node, text, quoted=quoted)
        self._scope.budget.spend(found, words=found.count(BREAK))
        return found

    def _expand(self, node: Node, text: str, *, quoted: bool) -> str:
        plain = _NAME.fullmatch(text)
        if plain is not None:
            return self._plain(plain[1], quoted=quoted)
        inner = self._read_inside(node)
        element = _ARRAY.fullmatch(text)
        if element is not None:
            return self._element(element[1], element[2], quoted=quoted)
        default = _DEFAULT.match(text)
        if default is not None:
            return self._default(default[1], default[2], inner, quoted=quoted)
        indirect = _INDIRECT.fullmatch(text)
        if indirect is not None:
            name = self._scope.lookup(indirect[1])
            named = isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*|\d", name)
            return self._plain(name, quoted=quoted) if named and isinstance(name, str) else DYNAMIC
        changed = _CHANGED.fullmatch(text)
        if changed is not None:
            return self._changed(changed, quoted=quoted)
        return DYNAMIC

    def _default(self, name: str, sign: str, word: str, *, quoted: bool) -> str:
        """Return ``${x:-word}``; a variable that the command did not set counts as unset."""
        value = self._value(name)
        known = value is not None and value != ""
        if sign[-1] == "+":
            return (
                DYNAMIC
                if value is None
                else self._placed(unshield(word) if known else "", quoted=quoted)
            )
        if known and value is not None:
            return self._placed(value, quoted=quoted)
        if sign[-1] == "=" and not name.isdigit():
            self._scope.assign(name, unshield(word))
        return self._placed(unshield(word), quoted=quoted)

    def _changed(self, match: re.Match[str], *, quoted: bool) -> str:
        value = self._value(match[1])
        if isinstance(value, tuple):
            index = int(match[2] or 0)
            value = value[index] if index < len(value) else ""
        if value is None or DYNAMIC in value:
            return DYNAMIC
        made = change(value, match[3])
        return DYNAMIC if made is None else self._placed(made, quoted=quoted)

    def _value(self, name: str) -> Value | None:
        """Return what is known of a parameter; None where this command did not set it."""
        if not name.isdigit():
            found = self._scope.lookup(name)
            return None if name not in self._scope.variables and found == DYNAMIC else found
        arguments = self._scope.positional
        if arguments is None:
            return DYNAMIC
        return arguments[int(name)] if int(name) < len(arguments) else ""

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
