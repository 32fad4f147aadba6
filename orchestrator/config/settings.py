"""Settings: defaults, then ``config.yaml``, then ``GLOVEBOX_*``, then flags; later wins.

Only the user's own file is read. A repository's files set nothing here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.config.providers import ProviderSettings
from orchestrator.errors import ConfigError


class Settings(BaseModel):
    """What a user may set once instead of with every command."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    """``provider/name``, ``local`` or ``scripted:FILE``."""
    policy: tuple[str, ...] = ("default",)
    """Names of shipped policies or paths of policy files."""
    workspace: Literal["overlay", "copy", "bind", "none"] | None = None
    """How a directory enters the box; None leaves it to the policy."""
    image: str | None = None
    """Image of the box; None is the shipped one."""
    tools: tuple[str, ...] = ("read", "write", "edit", "bash")
    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    """Own names and base URLs of model servers."""


VARIABLES: dict[str, str] = {
    "GLOVEBOX_MODEL": "model",
    "GLOVEBOX_POLICY": "policy",
    "GLOVEBOX_WORKSPACE": "workspace",
    "GLOVEBOX_IMAGE": "image",
    "GLOVEBOX_TOOLS": "tools",
}
"""Variable to setting; lists are written with commas."""

LISTS = frozenset({"policy", "tools"})


def load_settings(path: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings; a missing file is an empty one."""
    values = _read(path) | _from_environment(environ)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {name}: {first['msg']}", hint=_nearest(name)) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping, got {type(data).__name__}")
    if isinstance(data.get("policy"), str):
        data["policy"] = [data["policy"]]
    return data


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    given = {setting: environ[name] for name, setting in VARIABLES.items() if environ.get(name)}
    return {
        setting: value.split(",") if setting in LISTS else value for setting, value in given.items()
    }


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(name, list(Settings.model_fields), n=1)
    return f"did you mean '{close[0]}'?" if close else ""
