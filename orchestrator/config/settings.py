"""Settings: defaults, then ``config.yaml``, then ``GLOVEBOX_*``, then flags; later wins.

Only the user's own file is read. A repository's files set nothing here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.config.providers import ModelSettings, ProviderSettings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.errors import ConfigError
from orchestrator.named_file import read_named
from orchestrator.schema.thinking import ThinkingLevel

MAX_BYTES = 1024 * 1024
"""Settings are written by people."""
_SECONDS = {"s": 1, "m": 60, "h": 3600}


class PoolSettings(BaseModel):
    """Boxes that are kept ready for the next session of a project."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    size: Annotated[int, Field(ge=0, le=8)] = 0
    """How many; 0 keeps none."""
    idle: Annotated[str, Field(pattern=r"^[1-9]\d{0,5}(s|m|h)$")] = "15m"
    """How long a pool stays after the last session, such as 90s, 15m or 2h."""

    @property
    def idle_seconds(self) -> float:
        """``idle`` as a number."""
        return float(self.idle[:-1]) * _SECONDS[self.idle[-1]]


class WebhookSettings(BaseModel):
    """Somebody who answers questions behind an address."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: str
    """https, or http on this machine."""
    key: str = "approvals-webhook"
    """Name of the shared secret in the key store; the secret itself stands in no file."""


class ApprovalsSettings(BaseModel):
    """How a person is reached; only the user's own file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    webhook: WebhookSettings | None = None
    notify: tuple[str, ...] = ()
    """A command and its arguments, run with a text when a question waits."""
    bell: bool = True
    """Ring the terminal's bell with a question."""


class EgressSettings(BaseModel):
    """How the host reaches what policy lets a box reach; only the user's own file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extra_ca: Path | None = None
    """A file of certificates, in PEM form, that servers may be signed by besides the host's own."""
    upstream_proxy: UpstreamProxySettings | None = None
    """A company's proxy, which is the only way to the world from here."""


class PromptSettings(BaseModel):
    """What the system prompt says besides its texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Annotated[str, Field(min_length=1, max_length=200)] = "a coding agent"
    """Stands after "You are"."""
    rules: tuple[Annotated[str, Field(max_length=1000)], ...] = ()
    """Further rules, a line each."""
    context_files: bool = True
    """Whether AGENTS.md and CLAUDE.md of projects are read into it."""


class ContextSettings(BaseModel):
    """When a long conversation is compacted; both in tokens, bounded by what a small window spares."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reserve: Annotated[int, Field(ge=1_024, le=1_000_000)] = 16_384
    """Kept free for the next answer; the conversation is compacted where less is left."""
    keep: Annotated[int, Field(ge=0, le=1_000_000)] = 20_000
    """Of the newest messages, told word for word after a compaction."""


class SkillSettings(BaseModel):
    """Skills."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    route: Literal["off", "triggers", "model"] = "triggers"
    """Who may switch one on that nobody named: nobody, the triggers that it gives, or the small
    model where no trigger speaks."""


class SessionsSettings(BaseModel):
    """What `sessions prune` removes where it is not told; both bounds hold together."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    older_than: Annotated[str, Field(pattern=r"^[1-9]\d{0,2}d$")] | None = None
    """Age in days since the last entry, such as 90d, at most 366d; None takes any age."""
    keep: Annotated[int, Field(ge=0)] | None = None
    """How many of the newest of a directory stay; None keeps none for being new."""


class Settings(BaseModel):
    """What a user may set once instead of with every command."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    """``provider/name``, ``local`` or ``scripted:FILE``."""
    small_model: str | None = None
    """The same, for titles, summaries and choices; None takes ``model``."""
    fallback: tuple[str, ...] = ()
    """Models that take over, in this order, where ``model`` cannot be had."""
    thinking: ThinkingLevel | None = None
    """How hard the model is asked to think; None leaves it its own default."""
    policy: tuple[str, ...] = ("default",)
    """Names of shipped policies or paths of policy files."""
    workspace: Literal["overlay", "copy", "bind", "none"] | None = None
    """How a directory enters the box; None leaves it to the policy."""
    image: str | None = None
    """Image of the box; None is the shipped one."""
    tools: tuple[str, ...] = ("read", "write", "edit", "bash")
    prompt: PromptSettings = PromptSettings()
    """The system prompt."""
    context: ContextSettings = ContextSettings()
    """When a long conversation is compacted."""
    skills: SkillSettings = SkillSettings()
    """Skills."""
    sessions: SessionsSettings = SessionsSettings()
    """How long sessions are kept, once somebody prunes."""
    pool: PoolSettings = PoolSettings()
    """A warm pool for each project that a session worked on."""
    approvals: ApprovalsSettings = ApprovalsSettings()
    """How a person is reached when policy asks."""
    egress: EgressSettings = EgressSettings()
    """How the host reaches what policy lets a box reach."""
    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    """Own names and base URLs of model servers."""


VARIABLES: dict[str, str] = {
    "GLOVEBOX_MODEL": "model",
    "GLOVEBOX_SMALL_MODEL": "small_model",
    "GLOVEBOX_FALLBACK": "fallback",
    "GLOVEBOX_THINKING": "thinking",
    "GLOVEBOX_POLICY": "policy",
    "GLOVEBOX_WORKSPACE": "workspace",
    "GLOVEBOX_IMAGE": "image",
    "GLOVEBOX_TOOLS": "tools",
}
"""Variable to setting."""

LISTS = frozenset({"policy", "tools", "fallback"})
"""Settings that may be one text with commas."""


def load_settings(path: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings; a missing file is an empty one."""
    given = _from_environment(environ)
    try:
        return Settings.model_validate(_read(path) | given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        steps = [str(step) for step in first["loc"]]
        place, message = str(path), first["msg"][:1].lower() + first["msg"][1:]
        if steps[0] in given:
            place = next(name for name, setting in VARIABLES.items() if setting == steps[0])
        if first["type"] == "extra_forbidden":
            message = "no such setting"
        raise ConfigError(f"{place}: {'.'.join(steps)}: {message}", hint=_nearest(steps)) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_named(path, limit=MAX_BYTES)
        if len(text) > MAX_BYTES:
            raise ConfigError(f"{path}: expected at most {MAX_BYTES} bytes, got more")
        data = yaml.safe_load(text.decode("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read: {error.strerror}",
            hint=f"mend it or move it away: ls -ld {path}",
        ) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not YAML: {error.problem}") from error
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        # Only the kind: the message would repeat the file, and with it what it holds.
        raise ConfigError(f"{path}: not YAML: {type(error).__name__}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping, got {type(data).__name__}")
    for name in LISTS:
        if isinstance(data.get(name), str):
            data[name] = data[name].split(",")
    return data


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    given = {setting: environ[name] for name, setting in VARIABLES.items() if environ.get(name)}
    return {
        setting: value.split(",") if setting in LISTS else value for setting, value in given.items()
    }


_SECTIONS: dict[tuple[str, ...], type[BaseModel]] = {
    ("prompt",): PromptSettings,
    ("skills",): SkillSettings,
    ("sessions",): SessionsSettings,
    ("pool",): PoolSettings,
    ("approvals",): ApprovalsSettings,
    ("approvals", "webhook"): WebhookSettings,
    ("egress",): EgressSettings,
    ("egress", "upstream_proxy"): UpstreamProxySettings,
}


def _nearest(steps: list[str]) -> str:
    """Return a hint where the last step looks like a name that may stand there."""
    forms: dict[int, type[BaseModel]] = {1: Settings, 3: ProviderSettings, 5: ModelSettings}
    form = _SECTIONS.get(tuple(steps[:-1])) or forms.get(len(steps))
    known = list(form.model_fields) if form else []
    close = difflib.get_close_matches(steps[-1], known, n=1)
    return f"did you mean '{close[0]}'?" if close and close[0] != steps[-1] else ""
