"""In whose words a conversation is too long, and what only sounds like it.

The messages are as servers send them, or as reports of users quote them.
"""

import pytest

from orchestrator.model.errors import Failure, classify
from orchestrator.model.overflow import is_overflow

OVERFLOWS = [
    ("DS4", Failure(400, message="prompt has 9000 tokens but configured context is 8192")),
    ("generic", Failure(400, message="token limit exceeded")),
    ("TGI", Failure(422, type="validation", message="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`")),
    ("TGI2", Failure(422, message="Input validation error: `inputs` must have less than 1024 tokens. Given: 2048")),
    ("Vertex", Failure(400, message="The input token count is 1200000 but model only supports up to 1048576.")),
    ("Vertex2", Failure(400, message="Unable to submit request because the input token count is 40000 but model only supports up to 32767. Reduce the input token count and try again.")),
    ("DashScope", Failure(400, code="InvalidParameter", message="<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]")),
    ("DashScope2", Failure(400, message="Total message token length exceed model limit (30720 tokens)")),
    ("Bedrock", Failure(400, type="ValidationException", message="Input is too long for requested model.")),
    ("Bedrock2", Failure(400, message="The model returned the following errors: input is too long")),
    ("Bedrock3", Failure(400, message="Malformed input request: expected maxLength: 400000, actual: 512000, please reformat your input and try again.")),
    ("BedrockLlama", Failure(400, message="This model's maximum context length is 8192 tokens. Please reduce the length of the prompt")),
    ("Groq", Failure(400, code="context_length_exceeded", message="Please reduce the length of the messages or completion.")),
    ("xAI", Failure(400, message="This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    ("Cerebras", Failure(400, code="context_length_exceeded", message="Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192")),
    ("Together", Failure(422, message="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`")),
    ("Together2", Failure(400, message="The total number of tokens (input + output) 9000 exceeds the model's context length 8192")),
    ("Fireworks", Failure(400, message="The prompt is too long: 140000, model maximum context length: 131071")),
    ("LMStudio", Failure(400, message="The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input")),
    ("LMStudio2", Failure(400, message="Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.")),
    ("LMStudio3", Failure(400, message="Context size has been exceeded.")),
    ("LMStudio4", Failure(400, message="Reached context length of 4096 tokens with model 'x'. You can...")),
    ("Ollama", Failure(400, message="input length exceeds maximum context length")),
    ("Ollama2", Failure(400, message="the input length exceeds the context length")),
    ("Ollama3", Failure(400, message="prompt too long; exceeded max context length by 123 tokens")),
    ("vLLM", Failure(400, message="This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.")),
    ("vLLM2", Failure(400, message="The decoder prompt (length 9999) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.")),
    ("vLLM3", Failure(400, message="'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 6000 input tokens (4096 > 8192 - 6000).")),
    ("vLLM4", Failure(400, message="You passed 9000 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens. Please reduce the length of the input prompt.")),
    ("SGLang", Failure(400, message="The input (9000 tokens) is longer than the model's context length (8192 tokens).")),
    ("SGLang2", Failure(400, message="Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.")),
    ("SGLang3", Failure(400, message="Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.")),
    ("llama.cpp", Failure(400, type="exceed_context_size_error", message="the request exceeds the available context size. try increasing the context size or enable context shift")),
    ("llama.cpp2", Failure(500, message="input is too large to process. increase the physical batch size")),
    ("llama.cpp3", Failure(400, message="request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it")),
    ("MiniMax", Failure(200, code="2013", message="invalid params, context window exceeds limit")),
    ("MiniMax2", Failure(400, message="invalid params, context window exceeds limit (2013)")),
    ("Kimi", Failure(400, message="Invalid request: Your request exceeded model token limit: 131072")),
    ("Kimi2", Failure(400, message="Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)")),
    ("OpenRouter", Failure(400, message='This endpoint\'s maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.')),
    ("Mistral", Failure(400, type="invalid_request_error", message="Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length")),
    ("Mistral2", Failure(422, message="Number of tokens in prompt exceeds the model context")),
    ("Copilot", Failure(400, code="model_max_prompt_tokens_exceeded", message="prompt token count of 140000 exceeds the limit of 128000")),
    ("Azure", Failure(400, code="context_length_exceeded", message="This model's maximum context length is 16385 tokens. However, your messages resulted in 17000 tokens. Please reduce the length of the messages.")),
    ("OpenAI string", Failure(400, code="string_above_max_length", message="Invalid 'input': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.")),
    ("OpenAI resp", Failure(400, code="context_length_exceeded", message="Your input exceeds the context window of this model. Please adjust your input and try again.")),
    ("Anthropic 1m", Failure(400, type="invalid_request_error", message="input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again")),
    ("Anthropic rl", Failure(400, message="prompt is too long: 1000001 tokens > 1000000 maximum")),
    ("DeepSeek", Failure(400, message="This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (139000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.")),
    ("zai", Failure(400, code="1261", message="Prompt exceeds max length")),
    ("zai2", Failure(200, message="model_context_window_exceeded")),
    ("Cohere", Failure(400, message="too many tokens: size limit exceeded by 1000 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens.")),
    ("Cohere2", Failure(400, message="too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt")),
    ("HF", Failure(422, message="Input is too long for this model, shorten your input or use 'parameters': {'truncation': 'only_first'} to run the model only on the first part.")),
    ("Qwen/ModelScope", Failure(400, message="The input messages exceed the maximum context length (32768 tokens) after keeping the system message")),
    ("volc2", Failure(400, code="InvalidParameter.OversizeInput", message="Input length 140000 exceeds the maximum length 131072")),
    ("SiliconFlow", Failure(400, code="20015", message="length of prompt_tokens (130000) must be less than max_seq_len (98304).")),
    ("SiliconFlow2", Failure(413, message="input token size exceeds limit")),
    ("Nvidia NIM", Failure(400, message="This model's maximum context length is 8192 tokens. However, you requested 9000")),
    ("Perplexity", Failure(400, message="Requested 20000 tokens, but maximum is 16384")),
    ("Databricks", Failure(400, message="Bad request: prompt token count (9000) cannot exceed 8192.")),
    ("watsonx", Failure(400, message="the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model")),
    ("AI21", Failure(422, message="Prompt has 300000 tokens, max is 262144")),
    ("TRT-LLM", Failure(400, message="The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)")),
    ("LiteLLM", Failure(400, message="litellm.ContextWindowExceededError: litellm.BadRequestError: X")),
    ("Gemini", Failure(400, type="INVALID_ARGUMENT", message="The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")),
    ("Gemini2", Failure(400, type="INVALID_ARGUMENT", message="The input token count exceeds the maximum number of tokens allowed 1048576.")),
    ("mlx", Failure(400, message="Prompt length 9000 exceeds the maximum context of 8192")),
    ("exllama/tabby", Failure(400, message="Prompt length 9000 is greater than max_seq_len 8192")),
    ("kobold", Failure(400, message="Max context length exceeded")),
    ("llama-cpp-python", Failure(400, message="Requested tokens (11280) exceed context window of 2048")),
    ("GGML", Failure(400, message="prompt too long (570 tokens, max 508)")),
    ("Poolside", Failure(400, message="Input length 131393 exceeds the maximum allowed input length of 131040 tokens.")),
    ("vLLM5", Failure(400, message="This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=262145)")),
    ("Atlas", Failure(400, message="Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)")),
    ("ONNX", Failure(400, message="input_ids size (3216) + current sequence length (0) exceeds max length (2048)")),
    ("Chinese zhipu", Failure(400, code="1261", message="Prompt 超长")),
    ("Chinese", Failure(400, message="输入长度超过模型最大上下文长度")),
]  # fmt: skip

OTHERS = [
    ("TPM", Failure(429, message="Rate limit reached for gpt on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s."), "rate_limit"),
    ("bedrock throttle", Failure(400, type="ThrottlingException", message="Too many tokens, please wait before trying again."), "rate_limit"),
    ("bedrock throttle2", Failure(429, message="Too many tokens per day, please wait before trying again."), "rate_limit"),
    ("anthropic out", Failure(400, type="invalid_request_error", message="max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude"), "bad_request"),
    ("openai out", Failure(400, code="invalid_value", message="max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000."), "bad_request"),
    ("groq out", Failure(400, message="`max_completion_tokens` must be less than or equal to `32768`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model"), "bad_request"),
    ("deepseek out", Failure(400, message="Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), "bad_request"),
    ("dash out", Failure(400, message="Range of max_tokens should be [1, 8192]"), "bad_request"),
    ("bedrock out", Failure(400, message="The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192."), "bad_request"),
    ("mistral out", Failure(400, message="max_tokens must be less than 32768"), "bad_request"),
    ("gemini out", Failure(400, message="Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)."), "bad_request"),
    ("thinking budget", Failure(400, message="`max_tokens` must be greater than `thinking.budget_tokens`"), "bad_request"),
    ("tool count", Failure(400, message="Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead."), "bad_request"),
    ("tool desc", Failure(400, message="Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 2000 instead."), "bad_request"),
    ("call id", Failure(400, message="Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead."), "bad_request"),
    ("stop seqs", Failure(400, message="stop: too many items, limit is 4"), "bad_request"),
    ("anthropic acc", Failure(429, type="rate_limit_error", message="This request would exceed your organization's rate limit of 40,000 input tokens per minute"), "rate_limit"),
    ("anthropic long ctx", Failure(429, type="rate_limit_error", message="Extra usage is required for long context requests."), "rate_limit"),
    ("context beta", Failure(400, type="invalid_request_error", message="The long context beta is not yet available for this subscription."), "bad_request"),
    ("cache ctl", Failure(400, message="A maximum of 4 blocks with cache_control may be provided. Found 5."), "bad_request"),
    ("key limit", Failure(403, message="Key limit exceeded (total limit). Manage it using settings"), "auth"),
    ("openrouter credits", Failure(402, message="This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1000."), "quota"),
    ("openrouter prompt credits", Failure(402, message="Prompt tokens limit exceeded: 30000 > 1000. To increase, visit ... and upgrade to a paid account"), "quota"),
    ("timeout", Failure(504, message="Gateway time-out: request exceeded limit of 60s"), "server"),
    ("image", Failure(400, message="messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"), "too_large"),
    ("bytes", Failure(413, message="Request size exceeds model context maximum of 20 MB"), "too_large"),
    ("temperature", Failure(400, message="temperature: Input should be less than or equal to 1"), "bad_request"),
    ("json schema depth", Failure(400, message="Invalid schema: 'object' exceeds maximum nesting limit of 5 levels"), "bad_request"),
    ("pdf pages", Failure(400, message="A maximum of 100 PDF pages may be provided."), "bad_request"),
    ("concurrency", Failure(429, message="Your account reached max request concurrency: 1, please try again after 1 seconds"), "rate_limit"),
    ("moonshot tpd", Failure(429, message="Your account request reached TPD rate limit, current:1509000, limit:1500000"), "rate_limit"),
    ("model not found", Failure(404, message="The model `x` does not exist or you do not have access to it"), "bad_request"),
    ("prompt tokens rate", Failure(429, message="Limit on input tokens exceeded, retry later"), "rate_limit"),
    ("groq TPM 413", Failure(413, type="tokens", code="rate_limit_exceeded", message="Request too large for model `x` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 12000, please reduce your message size and try again."), "rate_limit"),
    ("minimax TPM", Failure(200, code="1039", message="token limit"), "rate_limit"),
    ("volc pictures", Failure(400, code="InvalidParameter", message="Total tokens of image and text exceed max message tokens. Request id: x"), "too_large"),
]  # fmt: skip


@pytest.mark.parametrize(("vendor", "failure"), OVERFLOWS, ids=[row[0] for row in OVERFLOWS])
def test_too_long_a_conversation_is_known(vendor: str, failure: Failure) -> None:
    """It is shortened and sent again, where any other bad request would end the run."""
    assert classify(failure) == "overflow", vendor


@pytest.mark.parametrize(("what", "failure", "kind"), OTHERS, ids=[row[0] for row in OTHERS])
def test_what_sounds_alike_is_no_overflow(what: str, failure: Failure, kind: str) -> None:
    """A conversation is never cut for a rate, a purse, a setting or a picture."""
    assert classify(failure) == kind, what


def test_words_about_nothing_of_the_kind_are_none() -> None:
    assert not is_overflow("")
    assert not is_overflow("the model is not available in your region")
