"""Sessions with a conversation, and a model that summarises, for tests of the context."""

from __future__ import annotations

from orchestrator.context.options import ContextOptions
from orchestrator.context.session_context import SessionContext
from orchestrator.context.sizes import fixed_tokens
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Summariser
from orchestrator.context.view import FIXED
from orchestrator.model.client import ModelInfo
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

SPEECH = Speech("be good", ())


class Sums:
    """A model that answers requests for summaries, and keeps what it was asked."""

    def __init__(self, *answers, window=200_000):
        self.info = ModelInfo("x", "sums", window, 8_000)
        self.answers, self.asked = list(answers), []

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        self.asked.append(prompt)
        answer = self.answers.pop(0) if self.answers else f"summary {len(self.asked)}"
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, AssistantMessage):
            return answer
        return AssistantMessage((Text(answer),), "end_turn", Usage(input=10, output=5))

    def text(self, number=-1):
        """Return what was asked in one request."""
        return self.asked[number].messages[0].content[0].text


def render(name, arguments):
    """Stand for the shipped texts: say what was asked for."""
    return f"{name} {dict(arguments)}"


def info_of(window=10_000, **facts):
    """Return what is known of the model that is talked with."""
    return ModelInfo("x", "main", window, window // 4, **facts)


def context_of(store, sums, *, window=10_000, events=None, **options):
    """Return the context of a session whose model has this window."""
    info = info_of(window)
    return SessionContext(
        store,
        lambda: info,
        lambda: Summariser(sums, render, "s"),
        (events if events is not None else []).append,
        lambda text: text.replace("SECRET", "[key]"),
        ContextOptions(**options),
    )


def say(store, text):
    """Append what the person says."""
    return store.append("message", encode_message(UserMessage((Text(text),))))


def answer(store, text="", *calls, usage=0, path="a.py", name="read", model="x/main"):
    """Append an answer that calls tools by these ids."""
    parts = [Text(text)] if text else []
    raw = f'{{"path": "{path}"}}'
    parts += [ToolCall(CallId(call), name, raw, {"path": path}) for call in calls]
    used = Usage(input=usage)
    stop = "tool_use" if calls else "end_turn"
    message = AssistantMessage(tuple(parts), stop, used, model)
    fixed = {FIXED: fixed_tokens(SPEECH.system, SPEECH.tools)}
    return store.append("message", encode_message(message) | fixed)


def result(store, call, text):
    """Append one call's result."""
    message = ToolMessage((ToolResult(CallId(call), "read", text),))
    return store.append("message", encode_message(message))


def show(store, count=1):
    """Append what the person says with so many pictures."""
    parts = (Text("look"), *[Image("image/png", "AAAA")] * count)
    return store.append("message", encode_message(UserMessage(parts)))
