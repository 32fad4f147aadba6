import ast
import io
import statistics
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

MODULE_MOST, MODULE_MEDIAN = 350, 110
BODY_MOST, BODY_P90 = 50, 25
POSITIONAL_MOST, POSITIONAL_MOST_PRIVATE = 3, 4
COMMENT_SHARE = 0.05

Function = ast.FunctionDef | ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def modules(sources: list[Path]) -> dict[Path, str]:
    texts = {path: path.read_text() for path in sources}
    return {path: text for path, text in texts.items() if text.strip()}


def functions(modules: dict[Path, str]) -> Iterator[tuple[str, Function]]:
    for path, text in modules.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{path}:{node.lineno} {node.name}", node


def body_lines(node: Function) -> int:
    """Lines from the first statement after the docstring to the last one."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def positional(node: Function) -> int:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_command(node: Function) -> bool:
    """A typer command's parameters are its options, all passed by name."""
    return any("Annotated" in ast.dump(argument) for argument in node.args.args)


def p90(values: list[int]) -> float:
    return statistics.quantiles(values, n=10)[-1]


def test_no_module_is_long(modules):
    """A module fits in a head: none above the limit, half of them a third of it."""
    lengths = {path: len(text.splitlines()) for path, text in modules.items()}
    long = {str(path): length for path, length in lengths.items() if length > MODULE_MOST}
    full = [length for path, length in lengths.items() if path.name != "__init__.py"]

    assert long == {}
    assert statistics.median(full) <= MODULE_MEDIAN


def test_no_function_is_long(modules):
    """A function fits on a screen, and nine of ten on half of one."""
    lengths = {name: body_lines(node) for name, node in functions(modules)}
    long = {name: length for name, length in lengths.items() if length > BODY_MOST}

    assert long == {}
    assert p90(list(lengths.values())) <= BODY_P90


FOREIGN = {"increment"}
"""Methods that a foreign library calls; their signatures are its own."""


def test_no_call_is_a_row_of_nameless_values(modules):
    """Three parameters at most are given by place; one more where all callers are on the page."""
    many = []
    for name, node in functions(modules):
        private = node.name.startswith("_") and not node.name.startswith("__")
        most = POSITIONAL_MOST_PRIVATE if private else POSITIONAL_MOST
        if positional(node) > most and not is_command(node) and node.name not in FOREIGN:
            many.append(name)

    assert many == []


def test_comments_are_rare(modules):
    """Code says what; a comment is for a reason, and reasons are few."""
    comments = 0
    for text in modules.values():
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments += sum(
            token.type == tokenize.COMMENT and not is_directive(token) for token in tokens
        )
    lines = sum(len(text.splitlines()) for text in modules.values())

    assert comments / lines <= COMMENT_SHARE


def is_directive(token: tokenize.TokenInfo) -> bool:
    return token.string.startswith(("# noqa", "# type:"))


def test_no_module_has_a_name_that_says_nothing(sources):
    """Modules are named in the field's words."""
    empty_words = {
        "utils",
        "util",
        "helpers",
        "helper",
        "common",
        "core",
        "base",
        "manager",
        "misc",
    }

    assert [str(path) for path in sources if path.stem in empty_words] == []
