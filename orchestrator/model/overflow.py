"""In whose words a conversation is too long for a model's window: a table, and one search. Pure.

Tests hold it to the messages of some forty servers, and to as many that only sound alike: a rate
of tokens a minute, a limit on the answer, a picture's size.
"""

from __future__ import annotations

import re

_WINDOW = (
    r"(context[ _-]?(length|window|size|limit)"
    r"|max(imum)?[ _](context|prompt|input|model|message|seq|num)[ _-]?(length|len|tokens)?)"
)
_TOO_MUCH = r"(exceed|too (long|large|many)|greater than|larger than|longer than|over the|limit)"
_SIZE = r"([ _](token|tokens|ids|messages|length|count|size))*"
_NUMBER = r"( \(?(length )?[\d,.]+( tokens)?\)?| of [\d,.]+)?"
_PROMPT = rf"(prompt|input|conversation|message)s?{_SIZE}{_NUMBER}"
_WORDINGS = (
    # A window, and that it is passed: OpenAI, Azure, vLLM, SGLang, OpenRouter, llama.cpp, MiniMax.
    rf"{_WINDOW}.{{0,120}}({_TOO_MUCH}|however|requested|but\b)",
    rf"{_TOO_MUCH}.{{0,80}}{_WINDOW}",
    # A prompt, perhaps its number, and that it is too much: Anthropic, Gemini, Bedrock, Copilot.
    rf"{_PROMPT}( is| are)? ({_TOO_MUCH}|cannot exceed|must be less than)",
    r"input token count.{0,40}(exceed|supports? up to)",  # Vertex
    r"(prompt|input).{0,40}[\d,.]+ tokens?.{0,80}(max\b|maximum|limit|at most|configured)",  # xAI, AI21
    r"requested [\d,.]+ tokens.{0,20}\bmax",  # Perplexity
    r"(reduce|shorten) (the )?(length|size) of (the |your )?(messages|prompt|input)",  # Groq, Cerebras
    r"request exceeded model token limit",  # Moonshot
    r"too many tokens|token limit exceeded",  # Cohere
    r"inputs\W{1,3}(tokens \+|must have less)|input_ids.{0,60}exceeds max length",  # TGI, ONNX
    r"range of input length should be",  # DashScope
    r"tokens to keep from the initial prompt|context the overflows|reached context length",  # LM Studio
    r"expected maxLength: \d{5,}",  # Bedrock, in characters
    r"string too long.{0,40}maximum length \d{7,}",  # OpenAI, in characters
    # Zhipu and others, in Chinese: a length, input or context that is exceeded.
    r"(上下文|输入|长度|prompt|tokens?).{0,16}(超|过长)|超.{0,12}(上下文|长度|tokens?)",
)
_OVERFLOW = re.compile("|".join(_WORDINGS), re.IGNORECASE | re.DOTALL)


def is_overflow(message: str) -> bool:
    """Say whether a provider's words are about a conversation that is too long, in tokens.

    Words about rates, bytes and pictures are to be told apart before.
    """
    return bool(_OVERFLOW.search(message))
