"""The answer of a run as an object, where a program is to read it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.context.speech import Speech
from orchestrator.errors import ConfigError
from orchestrator.harness.models.meter import Metered
from orchestrator.harness.session import Session
from orchestrator.loop.agent_loop import RunResult
from orchestrator.model.client import Prompt
from orchestrator.model.structured import Wanted, ask_structured
from orchestrator.named_file import read_named
from orchestrator.schema.message import AssistantMessage, Text, UserMessage

MAX_SCHEMA = 256 * 1024
ASKED = "Give the result as one JSON object that follows the schema {name}."


def read_wanted(path: Path) -> Wanted:
    """Return the schema in a file; ConfigError for one that cannot be read or is none."""
    try:
        data = read_named(path, limit=MAX_SCHEMA + 1)
    except OSError as error:
        raise ConfigError(f"--output-schema {path}: cannot be read: {error.strerror}") from error
    if len(data) > MAX_SCHEMA:
        raise ConfigError(f"--output-schema {path}: expected at most {MAX_SCHEMA} bytes, got more")
    try:
        schema: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--output-schema {path}: expected JSON: {error}") from error
    if not isinstance(schema, dict):
        raise ConfigError(f"--output-schema {path}: expected a JSON Schema of an object")
    try:
        return Wanted(_name_of(schema, path), schema)
    except ConfigError as error:
        raise ConfigError(f"--output-schema {path}: {error.message}", hint=error.hint) from error


async def shape_answer(session: Session, result: RunResult, wanted: Wanted) -> RunResult:
    """Return the result with its answer as an object; ModelError where the model gives none.

    The object becomes part of the conversation, so that one that goes on knows it.
    """
    speech: Speech = session.speech()
    prompt = Prompt(
        speech.system,
        session.record.transcript.messages(),
        speech.tools,
        thinking=speech.thinking,
        cache_key=session.id,
    )
    before = session.meter.beside()
    # The run that came to the answer was within its limits: the answer's form is a part of it.
    model = Metered(lambda: session.models, session.meter, within_run=True)
    made = await ask_structured(model, prompt, wanted)
    spent = session.meter.beside()
    text = session.output.scrub(made.text)
    transcript = session.record.transcript
    transcript.add(UserMessage((Text(ASKED.format(name=wanted.name)),)))
    # What it cost is noted with the calls that made it.
    made_of = AssistantMessage((Text(text),), "end_turn", model=session.models.info.id)
    transcript.add(made_of, cost_usd=0.0)
    cost = result.cost_usd
    if cost is not None and spent.cost_usd is not None:
        cost += spent.cost_usd - (before.cost_usd or 0.0)
    usage = result.usage + (spent.usage - before.usage)
    return replace(result, answer=text, usage=usage, cost_usd=cost)


def _name_of(schema: dict[str, Any], path: Path) -> str:
    """Return the schema's title, or the file's name, in the letters that providers take."""
    given = str(schema.get("title") or path.stem)
    return (
        "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in given)[:64]
        or "result"
    )
