"""Requests of Python code whose address or body holds what was read from a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.shell.languages.python_names import Names

_SENDERS = re.compile(
    r"(urllib\.request|urllib2)\.(urlopen|urlretrieve|Request|build_opener\(\)\.open)"
    r"|(requests|httpx|aiohttp|urllib3)(\.\w+(\(\))?)*\.(get|head|options|stream|request|urlopen)"
    r"|http\.client\.HTTPS?Connection\(\)\.(request|putrequest|putheader|send)"
    r"|socket\.(getaddrinfo|gethostbyname\w*)"
)
_READS = frozenset({"read", "read_text", "read_bytes", "readline", "readlines", "open"})
_OWN = re.compile(r"https?://(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)([:/?#]|$)")
_MAX_FOLLOWED = 200
"""Expressions that are looked into for one request."""


def find_sent(nodes: Sequence[ast.AST], names: Names) -> Iterator[ast.Call]:
    """Yield every request to another machine that takes file content with it."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    senders = [node for node in calls if _SENDERS.fullmatch(names.dotted(node.func))]
    if not senders:
        return
    bound = _bound(nodes)
    for node in senders:
        given = [*node.args, *(item.value for item in node.keywords)]
        own = node.args and _OWN.match(names.text(node.args[0]))
        if not own and _holds_file(given, bound, names):
            yield node


def _bound(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return every expression that a name is bound to, elements of a loop included."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.NamedExpr | ast.AugAssign | ast.AnnAssign):
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            pairs = [(node.target, node.iter)]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            pairs = [(node.optional_vars, node.context_expr)]
        for target, value in pairs:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and value is not None:
                    found.setdefault(part.id, []).append(value)
    return found


def _holds_file(given: Sequence[ast.expr], bound: dict[str, list[ast.expr]], names: Names) -> bool:
    waiting, seen = list(given), set[str]()
    for _ in range(_MAX_FOLLOWED):
        if not waiting:
            return False
        for part in ast.walk(waiting.pop()):
            if isinstance(part, ast.Call) and _reads(part, names):
                return True
            if isinstance(part, ast.Name) and part.id not in seen:
                seen.add(part.id)
                waiting.extend(bound.get(part.id, []))
    # More than is followed: nobody can say that no file is among it.
    return True


def _reads(node: ast.Call, names: Names) -> bool:
    """Say whether a call reads a file; what another machine answered is not one."""
    if isinstance(node.func, ast.Name):
        return names.dotted(node.func).rpartition(".")[2] == "open"
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _READS:
        return False
    return re.search(r"urlopen\(\)|getresponse\(\)", names.dotted(node.func)) is None
