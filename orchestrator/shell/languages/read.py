"""One door to all languages: a name and a text in, effects out."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.languages.python_code import read_python
from orchestrator.shell.languages.sed_code import read_sed
from orchestrator.shell.languages.snippets import languages, read_snippet
from orchestrator.shell.languages.sql_code import read_local_sql, read_sql

_PARSERS: dict[str, Callable[[str], list[Effect] | None]] = {
    "python": read_python,
    "sed": read_sed,
    "sql": read_sql,
    "local_sql": read_local_sql,
}


def known_languages() -> frozenset[str]:
    """Return every name that ``read_code`` takes."""
    return frozenset({*_PARSERS, *languages()})


def read_code(language: str, code: str) -> list[Effect]:
    """Return the effects of code; what cannot be parsed is opaque."""
    parser = _PARSERS.get(language)
    if parser is None:
        return read_snippet(code, languages()[language])
    effects = parser(code)
    if effects is None:
        return [Effect("opaque", 0, len(code), reason=f"the {language} code cannot be parsed")]
    return effects
