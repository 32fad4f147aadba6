"""What an entry that is no message means, in a person's words. Pure; raw, the caller escapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.sessions.entry import Entry

SHORT_ID = 6
"""Characters by which an entry is named."""
_TELLING = ("title", "told", "words", "reason")
"""Fields of which the first that is there says all; notes of ours have one."""


def words_of(entry: Entry) -> str:
    """Return what an entry beside the messages says, in one text of any length.

    Its other fields are for programs: ``sessions show --json`` has them.
    """
    body = entry.body
    match entry.type:
        case "compaction":
            return f"summary of what came before: {body.get('summary') or ''}"
        case "branch_summary":
            return f"summary of the branch that was left: {body.get('summary') or ''}"
        case "model_change":
            thinking = f", thinking {body['thinking']}" if body.get("thinking") else ""
            return f"model {body.get('model') or '?'}{thinking}"
        case "skill_change":
            skill = f"skill {body['skill']}" if body.get("skill") else "no skill any more"
            return f"{skill} (by {body.get('by') or '?'})"
        case "label":
            name = body.get("label")
            return f"{_target(body)} {f'is called {name}' if name else 'has no name any more'}"
        case "leaf":
            return f"goes on from {_target(body)}"
        case "context_edit":
            done = "is told otherwise" if body.get("replacement") else "is hidden"
            return f"{_target(body)} {done} in what the model is told"
        case "approval":
            waiting = body.get("waiting")
            count = len(waiting) if isinstance(waiting, list) else 0
            return f"{count} calls wait for an answer" if count else "calls were taken up"
    return _note(body)


def _target(body: Mapping[str, Any]) -> str:
    target = body.get("target")
    return str(target)[:SHORT_ID] if target else "the beginning"


def _note(body: Mapping[str, Any]) -> str:
    told = next((str(body[name]) for name in _TELLING if body.get(name)), "")
    if told:
        return told
    kind = str(body.get("kind") or "")
    words = {
        "usage": f"{body.get('model')} was asked for: {body.get('purpose')}",
        "prompt": "the system prompt is another from here on",
        "rewind": "a rewind was taken back",
    }
    return words.get(kind, kind)
