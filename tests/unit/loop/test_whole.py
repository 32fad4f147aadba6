"""The simplest context."""

import anyio

from orchestrator.context.speech import Speech
from orchestrator.loop.whole import WholeConversation
from orchestrator.schema.message import AssistantMessage, Text, UserMessage


def test_request_has_all_that_was_said_and_cannot_shrink():
    said = (UserMessage((Text("a"),)), AssistantMessage((Text("b"),), "end_turn"))
    context = WholeConversation(lambda: said, cache_key="s")
    speech = Speech("be good", (), "low")
    prompt = anyio.run(context.request, speech)

    assert (prompt.messages, prompt.system, prompt.thinking) == (said, "be good", "low")
    assert (prompt.cache_key, prompt.answers) == ("s", 1)
    assert not anyio.run(context.shrink, speech)
    assert not anyio.run(context.lighten, speech)
