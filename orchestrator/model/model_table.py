"""A model's facts: its row of ``models.toml``, with what a person's settings say instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from orchestrator.config.providers import ModelSettings
from orchestrator.model.client import ModelInfo, Tier
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.schema.prices import PriceTier, Rates
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel

_HOUR = 2
"""Anthropic asks so many times as much as for plain input to keep a prompt for an hour."""


@cache
def _tables() -> dict[str, Any]:
    path = Path(__file__).with_name("models.toml")
    return tomllib.loads(path.read_text("utf-8"))


def row_of(table: str | None, name: str) -> Mapping[str, Any]:
    """Return a model's row; a dated name is its undated model. Empty where there is none."""
    if table is None:
        return {}
    rows: Mapping[str, Mapping[str, Any]] = _tables()[table]
    undated = re.sub(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$", "", name)
    return rows.get(name) or rows.get(undated) or {}


def info_of(
    id_: tuple[str, str],
    row: Mapping[str, Any],
    settings: ModelSettings,
    *,
    window: int,
    output: int,
    tier: Tier,
    pictures: PictureRule = "unknown",
    hour: bool = False,
) -> ModelInfo:
    """Return what is known of a model.

    ``window``, ``output``, ``tier`` and ``pictures`` hold where nothing else says.

    With ``hour`` what is written to the cache costs as Anthropic asks for an hour of it.
    """
    table = _rates(row.get("prices", ()), hour=hour)
    wide = settings.context_window or row.get("window", window)
    return ModelInfo(
        *id_,
        wide,
        min(settings.max_output or row.get("output", output), wide),
        input_price=_chosen(settings.input_price, table.input),
        output_price=_chosen(settings.output_price, table.output),
        cache_read_price=_chosen(settings.cache_read_price, table.cache_read),
        cache_write_price=_chosen(settings.cache_write_price, table.cache_write),
        images=row.get("images", True) if settings.images is None else settings.images,
        pictures=row.get("pictures", pictures),
        thinking=_levels(row, settings),
        tier=settings.tier or row.get("tier", tier),
        tiers=_tiers(row, settings, hour=hour),
    )


def _chosen(own: float | None, known: float | None) -> float | None:
    return known if own is None else own


def _levels(row: Mapping[str, Any], settings: ModelSettings) -> tuple[ThinkingLevel, ...]:
    named = row.get("thinking", "").split() if settings.thinking is None else settings.thinking
    return tuple(level for level in THINKING_LEVELS if level in named)


def _rates(prices: Sequence[float], *, hour: bool) -> Rates:
    rates = Rates(*prices)
    if not hour or rates.input is None or rates.cache_write is None:
        return rates
    return Rates(rates.input, rates.output, rates.cache_read, _HOUR * rates.input)


def _tiers(row: Mapping[str, Any], settings: ModelSettings, *, hour: bool) -> tuple[PriceTier, ...]:
    if settings.price_tiers is not None:
        return tuple(
            PriceTier(
                tier.above,
                Rates(
                    tier.input_price,
                    tier.output_price,
                    tier.cache_read_price,
                    tier.cache_write_price,
                ),
            )
            for tier in settings.price_tiers
        )
    if settings.input_price is not None or settings.output_price is not None:
        # Somebody's own prices: the table's for long prompts would contradict them.
        return ()
    return tuple(
        PriceTier(int(above), _rates(rest, hour=hour)) for above, *rest in row.get("tiers", ())
    )
