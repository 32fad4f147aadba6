"""Jinja2, sandboxed and strict: a missing variable is an error, and no text is rendered twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jinja2 import BaseLoader, FunctionLoader, StrictUndefined, TemplateNotFound, nodes
from jinja2.exceptions import (
    SecurityError,
    TemplateError,
    TemplateSyntaxError,
    UndefinedError,
)
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from orchestrator.errors import PromptError
from orchestrator.prompts.plain import Complexity, check_plain

MOST_CHARACTERS = 256 * 1024
"""Of a rendered text: what a person wrote for a model is far shorter."""
MOST_NUMBER = 10_000
"""Of what a template may multiply, raise to a power or divide by: no result is long then."""
_RAISED = (
    SecurityError,
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What expressions of a template raise, and what its nesting makes the compiler raise."""


def render(
    text: str,
    values: Mapping[str, Any],
    *,
    source: str,
    plain: bool = False,
    partial: Callable[[str], str | None] = lambda _: None,
) -> str:
    """Return ``text`` with its variables filled in.

    ``source`` is the file for messages; ``partial`` gives what ``{% include "NAME" %}`` names.
    ``plain`` is for texts of a project: the small part of the language that cannot run away, see
    ``check_plain``. Raises PromptError with place and reason.
    """
    with _told(source, values):
        environment = _environment(FunctionLoader(partial))
        if plain:
            check_plain(environment.parse(text), environment, partial)
        return _bounded(environment, text, values, source=source)


def check(
    text: str,
    *,
    source: str,
    plain: bool = False,
    partial: Callable[[str], str | None] = lambda _: None,
) -> None:
    """Raise PromptError for a text that no values could make ``render`` take."""
    with _told(source, {}):
        environment = _environment(FunctionLoader(partial))
        tree = environment.parse(text)
        if plain:
            check_plain(tree, environment, partial)
        environment.compile(tree)
        for include in tree.find_all(nodes.Include):
            name = include.template
            is_needed = isinstance(name, nodes.Const) and not include.ignore_missing
            if isinstance(name, nodes.Const) and (is_needed or partial(name.value) is not None):
                environment.get_template(name.value)


@contextmanager
def _told(source: str, values: Mapping[str, Any]) -> Iterator[None]:
    """Have what a template raises told as a PromptError."""
    try:
        yield
    except UndefinedError as err:
        known = ", ".join(sorted(values)) or "none"
        raise PromptError(f"{source}: {err.message}", hint=f"variables here: {known}") from err
    except TemplateSyntaxError as err:
        where = f"{source}:{err.lineno}" if err.name is None else f"{source}: partial {err.name}"
        raise PromptError(f"{where}: not a template: {err.message}") from err
    except TemplateNotFound as err:
        raise PromptError(
            f"{source}: no partial is called {err.name}", hint="partials lie in templates/partials"
        ) from err
    except Complexity as err:
        raise PromptError(
            f"{source}:{err.line}: {err} is not for a project's own texts",
            hint="variables, if, and one for over a list are; yours in the configuration may more",
        ) from err
    except RecursionError as err:
        raise PromptError(f"{source}: it nests too deep, or includes itself without end") from err
    except _RAISED as err:
        raise PromptError(
            f"{source}: cannot be rendered: {str(err) or type(err).__name__}"
        ) from err


class _Environment(ImmutableSandboxedEnvironment):
    """Refuses to multiply, also where all factors stand in the template and are known before."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Context, operator: str, *sides: Any) -> Any:
        """Return what is small for sure; SecurityError for what could be of any size."""
        if not (_is_small(*sides) or (operator == "*" and _is_short(*sides))):
            raise SecurityError(f"'{operator}' is for small numbers and short texts alone")
        return super().call_binop(context, operator, *sides)


def _is_small(*numbers: Any) -> bool:
    return all(isinstance(number, int | float) and abs(number) <= MOST_NUMBER for number in numbers)


def _is_short(left: Any, right: Any) -> bool:
    texts = [side for side in (left, right) if isinstance(side, str | list | tuple)]
    counts = [side for side in (left, right) if isinstance(side, int)]
    return len(texts) == len(counts) == 1 and len(texts[0]) * counts[0] <= MOST_CHARACTERS


def _environment(loader: BaseLoader) -> ImmutableSandboxedEnvironment:
    made = _Environment(
        loader=loader, undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False
    )
    # It makes text of any size from nothing.
    del made.globals["lipsum"]
    return made


def _bounded(
    environment: ImmutableSandboxedEnvironment, text: str, values: Mapping[str, Any], *, source: str
) -> str:
    pieces, size = [], 0
    for piece in environment.from_string(text).generate(values):
        size += len(piece)
        if size > MOST_CHARACTERS:
            raise PromptError(f"{source}: expected at most {MOST_CHARACTERS} characters, got more")
        pieces.append(piece)
    return "".join(pieces)
