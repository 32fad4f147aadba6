"""How many tokens a message has, about."""

from orchestrator.context.sizes import (
    FRAME_TOKENS,
    FixedTokens,
    fixed_tokens,
    message_tokens,
)
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.schema.picture_tokens import picture_tokens

PICTURE = Image("image/png", "A" * 100_000)
SHOWN = picture_tokens(PICTURE)


def test_every_part_counts():
    thought, call = Thinking("t" * 40, "x"), ToolCall("1", "bash", "a" * 36)
    assert message_tokens(AssistantMessage((thought, Text("x" * 40), call), "tool_use")) == (
        FRAME_TOKENS + 30
    )
    assert message_tokens(UserMessage((Text("x" * 40), PICTURE))) == FRAME_TOKENS + 10 + SHOWN
    assert message_tokens(ToolMessage((ToolResult("1", "t", "x" * 40, images=(PICTURE,)),))) == (
        FRAME_TOKENS + 10 + SHOWN
    )


def test_prompt_and_tools_count_too():
    tool = ToolDefinition("read", "d" * 34, {})

    assert fixed_tokens("s" * 40, (tool,)) == 10 + 1 + 9 + 2


def test_thought_that_is_sealed_counts_by_its_seal():
    """What is sent back is the whole thought, also where only its gist is told."""
    sealed = AssistantMessage((Thinking("gist", "x", "s" * 5_000),), "end_turn")

    assert message_tokens(sealed) == FRAME_TOKENS + 1_000


def test_prompt_and_tools_are_counted_anew_when_they_change():
    counted, tools = FixedTokens(), (ToolDefinition("read", "d" * 34, {}),)

    assert [counted.of("s" * 40, more) for more in (tools, tools, ())] == [22, 22, 10]
    assert counted.of("s" * 80, ()) == 20
