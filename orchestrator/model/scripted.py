"""A model that says what a file tells it to: for tests, demos and replays.

The answer used is the one whose number is the count of assistant messages in the prompt, so a
resumed or forked conversation goes on where it was. A turn with ``error`` is no answer: it stands
before the next one and is raised once in a client's life, so that a retry goes on to what follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from orchestrator.errors import ScriptError
from orchestrator.model.client import Delta, ModelInfo, OnDelta, Prompt
from orchestrator.model.errors import Failure, model_error
from orchestrator.model.script_file import (
    Script,
    ScriptedCall,
    ScriptedFailure,
    ScriptedTurn,
    load_script,
    plain,
)
from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    ToolCall,
    ToolMessage,
    Usage,
)

PIECE = 24
"""Characters of one streamed piece: small, so that every script exercises streaming."""
_KEYS = {"conclusion": "conclusion", "summary": "summaries", "structured": "structured"}
"""What a request is for, and where the script has its answers."""
SHOWN = 500
"""Characters of a tool output in an error."""


class ScriptedModel:
    """Answers from a script; raises ScriptError where the run leaves it."""

    def __init__(self, script: Script, *, source: str) -> None:
        """Keep the script; ``source`` names it in errors."""
        self._script = script
        self._source = source
        self._raised: set[int] = set()
        self._asked = dict.fromkeys(_KEYS, 0)
        self._info = _info(script)
        self._templates = ImmutableSandboxedEnvironment(undefined=StrictUndefined)

    @property
    def info(self) -> ModelInfo:
        """Return what the script says of its model."""
        return self._info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the scripted answer after streaming its text in small pieces."""
        message = self._turn(prompt) if prompt.purpose == "turn" else self._spoken(prompt.purpose)
        for piece in _pieces(message.text):
            if self._script.pace_s:
                await anyio.sleep(self._script.pace_s)
            on_delta(Delta("text", piece))
        return message

    def _turn(self, prompt: Prompt) -> AssistantMessage:
        messages, said = prompt.messages, prompt.answers
        if said is None:
            said = sum(isinstance(message, AssistantMessage) for message in messages)
        for number, turn in self._reached(said):
            if turn.error is not None:
                self._fail_once(number, turn.error)
                continue
            output = _last_output(messages)
            self._check(number, turn, output)
            return self._answer(said, turn, output)
        answers = sum(turn.error is None for turn in self._script.turns)
        raise ScriptError(
            f"{self._source}: the script is exhausted: expected at most {answers} model turns, "
            f"got turn {said + 1}",
            hint="add a turn that ends the work: text without tool_calls",
        )

    def _reached(self, said: int) -> Iterator[tuple[int, ScriptedTurn]]:
        """Give the failures before answer number ``said``, then that answer."""
        answers = 0
        for number, turn in enumerate(self._script.turns):
            if answers == said:
                yield number, turn
            answers += turn.error is None
            if answers > said:
                return

    def _fail_once(self, number: int, error: ScriptedFailure) -> None:
        if number in self._raised:
            return
        self._raised.add(number)
        raise model_error(
            self._info.id,
            Failure(
                error.status, error.type, message=error.message, retry_after_s=error.retry_after
            ),
        )

    def _check(self, number: int, turn: ScriptedTurn, output: str | None) -> None:
        wanted = turn.expect.last_tool_output_contains if turn.expect else None
        if wanted is None or (output is not None and wanted in output):
            return
        got = "no tool output" if output is None else repr(output[-SHOWN:])
        raise ScriptError(
            f"{self._source}: turn {number + 1}: expected the last tool output to contain "
            f"{wanted!r}, got {got}"
        )

    def _answer(self, said: int, turn: ScriptedTurn, output: str | None) -> AssistantMessage:
        calls = [self._call(said, call, output) for call in turn.tool_calls]
        texts = [Text(turn.text)] if turn.text else []
        stop: StopReason = turn.stop_reason or ("tool_use" if calls else "end_turn")
        usage = Usage(**turn.usage.model_dump())
        numbered = (
            ToolCall(CallId(f"call_{said + 1}_{index}"), call.name, raw, parse_arguments(raw))
            for index, (call, raw) in enumerate(calls, start=1)
        )
        return AssistantMessage((*texts, *numbered), stop, usage, self._info.id)

    def _call(self, said: int, call: ScriptedCall, output: str | None) -> tuple[ScriptedCall, str]:
        if call.raw_arguments is not None:
            return call, call.raw_arguments
        arguments = plain(call.arguments)
        if self._script.template:
            try:
                arguments = self._render(arguments, {"last_output": output or ""})
            except TemplateError as error:
                raise ScriptError(
                    f"{self._source}: answer {said + 1}: {call.name}: template: {error}"
                ) from error
        return call, json.dumps(arguments, ensure_ascii=False)

    def _render(self, value: Any, names: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            return self._templates.from_string(value).render(names)
        if isinstance(value, list):
            return [self._render(item, names) for item in value]
        if isinstance(value, dict):
            return {key: self._render(item, names) for key, item in value.items()}
        return value

    def _spoken(self, purpose: str) -> AssistantMessage:
        """Return the next conclusion, summary or object; these eat no turns."""
        key = _KEYS[purpose]
        texts: list[str] = getattr(self._script, key)
        number = self._asked[purpose]
        if number >= len(texts):
            raise ScriptError(
                f"{self._source}: {key}: expected a text for {purpose} {number + 1}, "
                f"got {len(texts)} in the script",
                hint=f"add a list of texts: {key}: [...]",
            )
        self._asked[purpose] += 1
        text = texts[number]
        return AssistantMessage((Text(text),) if text else (), "end_turn", Usage(), self._info.id)


def open_script(path: Path) -> ScriptedModel:
    """Return the scripted model of a file; raises ConfigError for an invalid script."""
    return ScriptedModel(load_script(path), source=str(path))


def _info(script: Script) -> ModelInfo:
    prices = script.model.prices
    return ModelInfo(
        "scripted",
        script.model.name,
        script.model.context_window,
        script.model.max_output,
        prices.input,
        prices.output,
        prices.cache_read,
        prices.cache_write,
    )


def _last_output(messages: tuple[Message, ...]) -> str | None:
    for message in reversed(messages):
        if isinstance(message, ToolMessage) and message.results:
            return message.results[-1].output
    return None


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
