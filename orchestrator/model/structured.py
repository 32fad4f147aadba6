"""An answer that a program reads: asked for in a form, checked, mended once, or refused.

The schema is always checked here, however firmly the server was held to it: a strict mode that is
missing, or lies, costs a second question and never a wrong object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable

from orchestrator.errors import ConfigError, ModelError
from orchestrator.model.client import Delta, ModelClient, OutputShape, Prompt, Tier
from orchestrator.schema.message import AssistantMessage, Text, UserMessage

WEAKER: Mapping[Tier, Tier] = {"grammar": "json", "native": "json", "json": "prompt"}
"""What is tried where a server does not know a tier."""
MOST_FAULTS = 8
"""Faults that are told at once."""

REASON = "Think this through in plain text first. The object is asked for afterwards."
NOW = (
    "Give the result of all this as one JSON object that follows this JSON Schema, and nothing "
    "else: no explanation, no code fence.\n\n{schema}"
)
MEND = (
    "That is not yet right:\n{faults}\nGive the whole JSON object again, mended, and nothing else."
)

Check = Callable[[Any], str | None]
"""Says what is wrong with an object that follows its schema; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of the model."""

    name: str
    schema: Mapping[str, Any]
    check: Check | None = None
    """What a schema cannot say: a date that lies in the past, a file that does not exist."""
    confidence: Callable[[Any], float] | None = None
    """Reads from the object how sure the model is, from 0 to 1."""
    threshold: float = 0.0
    """An object with less confidence is refused, after one more try."""
    reason_first: bool = False
    """Ask for free text first: a form from the first word costs some models their thought."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a schema that is none, or is not of an object."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.name):
            raise ConfigError(
                f"output schema {self.name!r}: expected a name of letters, digits, _ and -"
            )
        try:
            Draft202012Validator.check_schema(dict(self.schema))
        except SchemaError as error:
            place = "/".join(str(step) for step in error.absolute_path) or "(top)"
            raise ConfigError(f"output schema: {place}: {error.message}") from error
        if self.schema.get("type") != "object":
            raise ConfigError(
                "output schema: expected type object at the top",
                hint="wrap another type into an object with one member",
            )


@dataclass(frozen=True, slots=True)
class Structured:
    """An object that follows its schema, and passed every check."""

    value: Mapping[str, Any]
    text: str
    """Its JSON."""
    tier: Tier
    attempts: int
    """Requests that were answered, free text not counted."""
    confidence: float | None = None
    answers: tuple[AssistantMessage, ...] = field(default=())


async def ask_structured(client: ModelClient, prompt: Prompt, wanted: Wanted) -> Structured:
    """Return the object; raises ModelError where a second try is wrong too.

    ``prompt`` is the conversation so far; its tools stay named, and none can be called.
    """
    asking = _Asking(client, prompt, wanted)
    if wanted.reason_first:
        await asking.reason()
    return await asking.object()


class _Asking:
    def __init__(self, client: ModelClient, prompt: Prompt, wanted: Wanted) -> None:
        self._client = client
        self._wanted = wanted
        self._tier: Tier = client.info.tier
        self._prompt = replace(prompt, purpose="structured", shape=None)
        self._answers: list[AssistantMessage] = []

    async def reason(self) -> None:
        """Ask for free text, which the object is then made of."""
        self._say(REASON)
        self._hear(await self._client.complete(self._prompt, on_delta=_unseen))

    async def object(self) -> Structured:
        """Ask for the object, and once more where it is wrong."""
        schema = json.dumps(dict(self._wanted.schema), ensure_ascii=False)
        self._say(NOW.format(schema=schema))
        faults: list[str] = []
        for attempt in (1, 2):
            answer = await self._asked()
            value, faults = self._read(answer)
            if not faults:
                return self._made(value, attempt)
            self._hear(answer)
            self._say(MEND.format(faults="\n".join(f"- {fault}" for fault in faults)))
        raise ModelError(
            f"{self._client.info.id}: expected an object that follows {self._wanted.name}, "
            f"got one that does not: {'; '.join(faults)}",
            kind="bad_request",
            hint="try another model, or a simpler schema",
        )

    async def _asked(self) -> AssistantMessage:
        """Ask as firmly as the server takes it."""
        while True:
            shape = OutputShape(self._wanted.name, self._wanted.schema, self._tier)
            asked = replace(self._prompt, shape=None if self._tier == "prompt" else shape)
            try:
                return await self._client.complete(asked, on_delta=_unseen)
            except ModelError as error:
                if error.kind != "bad_request" or self._tier not in WEAKER:
                    raise
                self._tier = WEAKER[self._tier]

    def _say(self, text: str) -> None:
        said = UserMessage((Text(text),))
        self._prompt = replace(self._prompt, messages=(*self._prompt.messages, said))

    def _hear(self, answer: AssistantMessage) -> None:
        self._answers.append(answer)
        self._prompt = replace(self._prompt, messages=(*self._prompt.messages, answer))

    def _read(self, answer: AssistantMessage) -> tuple[Any, list[str]]:
        """Return the object in an answer, or what is wrong with it."""
        if answer.stop_reason != "end_turn":
            return None, [f"the answer ended with {answer.stop_reason}"]
        try:
            value = json.loads(unfenced(answer.text))
        except (ValueError, RecursionError) as error:
            return None, [f"expected one JSON object: {error}"]
        return value, faults_of(value, self._wanted)

    def _made(self, value: Any, attempts: int) -> Structured:
        sure = self._wanted.confidence
        return Structured(
            value,
            json.dumps(value, ensure_ascii=False),
            self._tier,
            attempts,
            sure(value) if sure else None,
            tuple(self._answers),
        )


def faults_of(value: Any, wanted: Wanted) -> list[str]:
    """Return what is wrong with a value: by its schema, then by its check, then by its confidence."""
    # With a registry of its own: a reference to another address is a fault, and never fetched.
    validator = Draft202012Validator(dict(wanted.schema), registry=Registry())
    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
    except (Unresolvable, RecursionError) as error:
        return [f"the schema cannot be followed: {error}"]
    if errors:
        told = [f"{_place(error.absolute_path)}: {error.message}"[:300] for error in errors]
        return told[:MOST_FAULTS]
    if wanted.check is not None and (fault := wanted.check(value)) is not None:
        return [fault]
    if wanted.confidence is not None and (sure := wanted.confidence(value)) < wanted.threshold:
        return [
            f"confidence {sure:.2f} is below {wanted.threshold:.2f}: look again, or say why not"
        ]
    return []


def unfenced(text: str) -> str:
    """Return what stands in a code fence where the whole answer is one, else the answer."""
    fenced = re.fullmatch(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", text, re.DOTALL)
    return fenced[1] if fenced else text


def _place(path: Any) -> str:
    return "/".join(str(step) for step in path) or "(top)"


def _unseen(delta: Delta) -> None:
    """Nobody watches an object being written."""
