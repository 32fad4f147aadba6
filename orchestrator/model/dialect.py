"""Which dialect of Chat Completions a server speaks: a table, found by host, overridden by settings."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orchestrator.config.dialect import (
    BudgetField,
    DialectSettings,
    IdForm,
    MaxTokensField,
    ReasoningBack,
    ThinkingFormat,
)

PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server wants; see ``config.dialect`` for what each member means."""

    name: str = PLAIN
    store: bool = False
    developer_role: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    stream_usage: bool = True
    thinking: ThinkingFormat = "none"
    budget_field: BudgetField = ""
    reasoning_back: ReasoningBack = "calls"
    tool_result_name: bool = False
    answer_after_results: bool = False
    content_with_calls: bool = False
    strict: bool = False
    ids: IdForm = "portable"
    cache_key: bool = False
    cache_markers: bool = False
    finish_optional: bool = False


def dialect_of(provider: str, base_url: str, *settings: DialectSettings | None) -> Dialect:
    """Return the dialect of a server: its host's, else its provider's, else the plain one.

    ``settings`` are laid over it, the later over the earlier.
    """
    found = _by_host(urlsplit(base_url).hostname or "") or _table().get(provider) or _table()[PLAIN]
    for laid in settings:
        if laid is not None:
            found = replace(found, **laid.model_dump(exclude_none=True))
    return found


def dialect_names() -> tuple[str, ...]:
    """Return the names of the table's rows."""
    return tuple(_table())


def _by_host(host: str) -> Dialect | None:
    for suffix, dialect in _hosts().items():
        if host == suffix or host.endswith("." + suffix):
            return dialect
    return None


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("dialects.toml").read_text("utf-8"))


@cache
def _table() -> Mapping[str, Dialect]:
    known = {field.name for field in fields(Dialect)}
    return {
        name: Dialect(name, **{key: value for key, value in row.items() if key in known})
        for name, row in _rows().items()
    }


@cache
def _hosts() -> Mapping[str, Dialect]:
    return {host: _table()[name] for name, row in _rows().items() for host in row.get("hosts", ())}
