"""Which situation of the corpus which test holds: read from the tests' sources, none is run.

A test says so by ``@pytest.mark.case("session-loop-04")``, above it or among the ``marks`` of one of
its parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

SKIPPERS = frozenset({"skip", "skipif", "xfail"})
"""Marks of tests that may pass without having run."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Marks:
    """What sources say of cases."""

    held: list[tuple[str, str]] = field(default_factory=list)
    """Case and test."""
    faults: list[str] = field(default_factory=list)


def read_marks(found: Marks, source: str, name: str) -> None:
    """Add the marks of one file of tests; ``name`` is told with each."""
    tree = ast.parse(source)
    calls = dict.fromkeys(_case_calls(tree))
    for test in _tests(tree):
        cases = [call for above in test.decorator_list for call in _case_calls(above)]
        where = f"{name}::{test.name}"
        for call in cases:
            del calls[call]
            ids = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
            if not ids or len(ids) != len(call.args) or call.keywords:
                found.faults.append(f"{where}: expected the cases by their names")
            found.held += [(str(case), where) for case in ids]
        if cases and any(_mark(node) in SKIPPERS for node in _above(test)):
            found.faults.append(f"{where}: a test that may be skipped holds no case")
        if cases and not any(map(_asserts, ast.walk(test))):
            found.faults.append(f"{where}: a test that asserts nothing holds no case")
    found.faults += [f"{name}:{call.lineno}: no test is below this case" for call in calls]


def _tests(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.name.startswith("test_"):
            yield node


def _case_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _mark(node.func) == "case":
            yield node


def _above(test: Function) -> Iterator[ast.AST]:
    for decorator in test.decorator_list:
        yield from ast.walk(decorator)


def _mark(node: ast.AST) -> str:
    """Return NAME of ``….mark.NAME``; empty for anything else."""
    on = node.value if isinstance(node, ast.Attribute) else None
    return node.attr if isinstance(on, ast.Attribute) and on.attr == "mark" else ""


def _asserts(node: ast.AST) -> bool:
    """Say whether it asserts, itself or by a function that says so in its name."""
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    return called == "raises" or called.startswith(("assert_", "check_"))
