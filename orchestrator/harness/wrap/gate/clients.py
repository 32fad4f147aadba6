"""Agents whose own hooks can be made to ask the gate, by arguments alone: nothing is written. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orchestrator.harness.wrap.gate.service import COMMAND

_TOOLSERVER = COMMAND.rpartition("/")[0]
_WAIT_S = 86_400
"""Seconds that a client's hook may take: a person may be asked."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A program that asks the gate."""

    client: str
    argv: tuple[str, ...]
    """With what makes it ask."""


def connect(argv: Sequence[str]) -> Connected | None:
    """Return how a known agent is started so that it asks; None for a program without such hooks.

    The agent is known by its file's name, also behind an interpreter, as in ``node …/pi``.
    """
    for at, word in enumerate(argv[:2]):
        client = word.rpartition("/")[2]
        hooked = _CLIENTS.get(client)
        if hooked is not None:
            more = hooked(argv[at + 1 :])
            return None if more is None else Connected(client, (*argv[: at + 1], *more))
    return None


def _claude(words: Sequence[str]) -> tuple[str, ...] | None:
    # Bare, it runs no hooks; and it takes one such option.
    if "--bare" in words or any(word.partition("=")[0] == "--settings" for word in words):
        return None
    hook = {"type": "command", "command": f"{COMMAND} claude", "timeout": _WAIT_S}
    settings = {
        "disableAllHooks": False,
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]},
    }
    return ("--settings", json.dumps(settings), *words)


def _pi(words: Sequence[str]) -> tuple[str, ...] | None:
    return ("--extension", f"{_TOOLSERVER}/gate_pi.mjs", *words)


def _codex(words: Sequence[str]) -> tuple[str, ...] | None:
    # In the form of a TOML value, which JSON's strings and lists are; keys have no quotes there.
    hook = f'{{type="command",command="{COMMAND} codex",timeout={_WAIT_S}}}'
    return (
        # Else a person would have to look through them first.
        "--dangerously-bypass-hook-trust",
        "-c",
        "features.hooks=true",
        "-c",
        f'hooks.PreToolUse=[{{matcher="*",hooks=[{hook}]}}]',
        *words,
    )


_CLIENTS: dict[str, Callable[[Sequence[str]], tuple[str, ...] | None]] = {
    "claude": _claude,
    "codex": _codex,
    "pi": _pi,
}
