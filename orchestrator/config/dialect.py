"""How a server's Chat Completions differ from OpenAI's, as a person may write it.

None leaves the value of the table in ``orchestrator.model.dialect``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]
ThinkingFormat = Literal[
    "none", "effort", "nested_effort", "switch", "switch_effort", "enabled", "enable_thinking",
    "template",
]  # fmt: skip
"""Where a request says how hard to think.

``effort``: ``reasoning_effort``; ``nested_effort``: ``reasoning.effort``; ``switch``:
``thinking.type``; ``switch_effort``: that and ``reasoning_effort``; ``enabled``:
``reasoning.enabled``; ``enable_thinking``: a member of that name; ``template``: the same among
``chat_template_kwargs``."""
BudgetField = Literal["", "thinking_token_budget", "thinking_budget", "thinking_budget_tokens"]
ReasoningBack = Literal["never", "calls", "always"]
"""Whether a vendor wants its own thoughts back: never, beside calls, or with every answer."""
IdForm = Literal["portable", "nine"]
"""Of call ids: up to 40 letters, digits, ``_`` and ``-``, or exactly nine letters and digits."""


class DialectSettings(BaseModel):
    """What a server wants."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: bool | None = None
    """It takes ``store``, and is told false."""
    developer_role: bool | None = None
    """The system prompt comes in the role ``developer``."""
    max_tokens_field: MaxTokensField | None = None
    stream_usage: bool | None = None
    """It takes ``stream_options``; others report usage unasked, or never."""
    thinking: ThinkingFormat | None = None
    budget_field: BudgetField | None = None
    """Where it takes tokens of thought."""
    reasoning_back: ReasoningBack | None = None
    tool_result_name: bool | None = None
    """A tool's result names the tool too."""
    answer_after_results: bool | None = None
    """It refuses what a person says directly after results."""
    content_with_calls: bool | None = None
    """It refuses an answer without text, also beside calls."""
    strict: bool | None = None
    """Tool definitions carry ``strict: false``."""
    ids: IdForm | None = None
    cache_key: bool | None = None
    """It takes ``prompt_cache_key``."""
    cache_markers: bool | None = None
    """It takes Anthropic's marks for its prompt cache."""
    finish_optional: bool | None = None
    """Its streams may end whole without a ``finish_reason``."""
