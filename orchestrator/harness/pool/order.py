"""What a pool's process is told when it is started: a file beside its socket."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import ConfigError
from orchestrator.harness.options import RunOptions


class Order(BaseModel):
    """What a pool's process is started with; a file beside its socket."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    options: RunOptions
    size: int
    idle_s: float


def order_path(directory: Path, pool: str) -> Path:
    """Return where a pool's order is."""
    return directory / f"{pool}.json"


def read_order(directory: Path, pool: str) -> Order:
    """Return a pool's order; ConfigError where there is none that can be read."""
    path = order_path(directory, pool)
    try:
        return Order.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as err:
        raise ConfigError(
            f"{path}: no order for a pool can be read", hint="start one with `glovebox pool warm`"
        ) from err
