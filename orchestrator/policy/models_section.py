"""The ``models`` section of a policy file: which models may be asked, and by whom.

A key's docstring is its documentation, as in ``document``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from orchestrator.policy.rules import Section, Word


def _model_spec(value: Any) -> Any:
    if isinstance(value, str) and value != "local" and not re.match(r"[^/*?]+/[^*?]+\Z", value):
        raise ValueError(f"expected a model as provider/name, or local, got {value!r}")
    return value


ModelSpec = Annotated[Word, BeforeValidator(_model_spec)]


class BoxModels(Section):
    """What programs in the box may take from models; numbers count only their own calls."""

    allow: tuple[Word, ...] | None = None
    """Globs such as ``anthropic/claude-haiku-*``, narrower than ``models.allow``."""
    map: Annotated[Mapping[Word, ModelSpec], Field(max_length=64)] | None = None
    """Globs of names that programs ask for, and the ``provider/name`` that answers instead."""
    remote: Literal["allow", "deny"] | None = None
    """The provider may fetch and run what a request names: web search, addresses of pictures,
    servers of tools. ``deny``, the default, keeps the provider from being a way out."""
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Tokens of one answer; a request for more gets so many."""
    tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """Tokens of one session, cached ones too."""
    cost_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """US dollars of one session; models without a known price are refused then."""
    requests_per_minute: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Requests of one session in any minute."""
    tokens_per_day: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """Tokens of all your sessions' boxes in one day, UTC."""
    cost_usd_per_day: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """US dollars of all your sessions' boxes in one day, UTC."""


class Models(Section):
    """Which models may be asked."""

    allow: tuple[Word, ...] | None = None
    """Globs of model names as given to ``--model``, such as ``anthropic/*`` or ``local``."""
    in_box: Literal["allow", "deny"] | None = None
    """Programs in the box may ask a model through the host, which adds the key and counts."""
    box: BoxModels | None = None
    """What those programs may take."""
