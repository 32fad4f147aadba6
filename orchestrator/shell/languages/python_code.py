"""Python code from its own syntax tree: processes started, files removed and written, code run.

Names are followed through imports and plain assignments, so that ``from os import system as s`` and
``__import__('os').system`` come to the same. What hides a name (``getattr`` with a computed name,
``exec`` of a computed text) is opaque.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import replace

from orchestrator.shell.languages import python_calls
from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.languages.python_empties import find_emptied
from orchestrator.shell.languages.python_names import Names
from orchestrator.shell.languages.python_sending import find_sent
from orchestrator.shell.quoting import DYNAMIC

_MAX_CODE = 60_000


def read_python(code: str) -> list[Effect] | None:
    """Return the effects of Python code; None when it is no Python this parser knows."""
    if len(code) > _MAX_CODE:
        return [Effect("opaque", 0, len(code), reason="more Python than is read")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            return list(_effects(tree, code))
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        return [Effect("opaque", 0, len(code), reason="Python nested too deeply to read")]


def _effects(tree: ast.Module, code: str) -> Iterator[Effect]:
    if DYNAMIC in code:
        yield Effect("opaque", 0, len(code), reason="parts of the code are not in the command")
    nodes = list(ast.walk(tree))
    names = Names.collect(nodes)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    starts = _line_starts(code)
    for node in nodes:
        if isinstance(node, ast.Call):
            found = python_calls.judge_call(node, names)
        elif isinstance(node, ast.Attribute | ast.Name):
            if id(node) in called or not isinstance(node.ctx, ast.Load):
                continue
            found = python_calls.judge_mention(node, names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found = python_calls.judge_import(node)
        else:
            continue
        start, end = _place(node, starts)
        for effect in found:
            yield replace(effect, start=start, end=end)
    for sent in find_sent(nodes, names):
        yield Effect("upload", *_place(sent, starts), reason="sends what was read from a file")
    for emptied in find_emptied(nodes, names):
        yield Effect("destructive", *_place(emptied, starts), reason="empties a file")


def _place(node: ast.expr | ast.stmt, starts: list[int]) -> tuple[int, int]:
    last = (node.end_lineno or node.lineno) - 1
    return starts[node.lineno - 1] + node.col_offset, starts[last] + (node.end_col_offset or 0)


def _line_starts(code: str) -> list[int]:
    """Return where lines start; columns count UTF-8 bytes, which is near enough for a span."""
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
