"""What lies at the provider."""

import pytest

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import find_route
from orchestrator.egress.endpoint.stored import not_kept, refuse_stored

ROUTES = {
    "anthropic": find_route("POST", "/v1/messages", {}),
    "chat": find_route("POST", "/chat/completions", {}),
    "responses": find_route("POST", "/responses", {}),
    "gemini": find_route("POST", "/v1beta/models/g:generateContent", {}),
}
FILE = {"fileData": {"fileUri": "files/1"}}


def user(*content):
    return [{"role": "user", "content": list(content)}]


@pytest.mark.parametrize(
    ("api", "data"),
    [
        ("responses", {"previous_response_id": "resp_1"}),
        ("responses", {"Previous_Response_ID": "resp_1"}),
        ("responses", {"conversation": "conv_1"}),
        ("responses", {"conversation": {"id": "conv_1"}}),
        ("responses", {"prompt": {"id": "kept"}}),
        ("responses", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        ("responses", {"input": [{"id": "msg_1"}]}),
        ("responses", {"input": {"id": "msg_1"}}),
        ("responses", {"input": [{"type": "message", "id": "msg_1"}]}),
        ("responses", {"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}),
        ("responses", {"input": [{"type": "image_generation_call", "id": "ig_1"}]}),
        ("responses", {"input": [{"type": "not_known_yet", "id": "x_1", "text": "t"}]}),
        ("responses", {"input": user({"type": "input_file", "file_id": "file-1"})}),
        ("responses", {"input": user({"type": "input_image", "file_id": "file-1"})}),
        ("responses", {"input": [{"output": [{"type": "input_file", "file_id": "file-1"}]}]}),
        ("chat", {"messages": user({"type": "file", "file": {"file_id": "file-1"}})}),
        ("chat", {"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]}),
        ("anthropic", {"container": "container_1"}),
        ("anthropic", {"container": {"id": "container_1", "skills": []}}),
        (
            "anthropic",
            {"messages": user({"type": "document", "source": {"type": "file", "file_id": "f"}})},
        ),
        ("anthropic", {"messages": user({"type": "container_upload", "file_id": "f"})}),
        ("gemini", {"cachedContent": "cachedContents/1"}),
        ("gemini", {"cached_content": "cachedContents/1"}),
        ("gemini", {"contents": [{"parts": [FILE]}]}),
        ("gemini", {"contents": {"parts": FILE}}),
        ("gemini", {"contents": [{"parts": [{"file_data": {"file_uri": "files/1"}}]}]}),
        ("gemini", {"system_instruction": {"parts": [FILE]}}),
        ("gemini", {"generateContentRequest": {"contents": [{"parts": [FILE]}]}}),
        ("gemini", {"generateContentRequest": {"cachedContent": "cachedContents/1"}}),
    ],
)
def test_whatever_points_to_the_providers_store_is_refused(api, data):
    """It may be another session's, and is billed though the body does not show it."""
    with pytest.raises(RefusedCallError, match="kept at the provider") as caught:
        refuse_stored(data, ROUTES[api])

    assert (caught.value.status, caught.value.rule) == (403, "models.box.remote")


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("api", "data"),
    [
        (
            "responses",
            {
                "store": False,
                "include": ["reasoning.encrypted_content"],
                "prompt_cache_key": "k",
                "previous_response_id": None,
                "input": [
                    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{}]},
                    {"id": "msg_2", "role": "assistant", "content": "text"},
                    {"type": "reasoning", "id": "rs_1", "encrypted_content": "AAA", "summary": []},
                    {"type": "reasoning", "encrypted_content": "AAA", "summary": []},
                    {"type": "reasoning", "id": "rs_2", "content": [{"text": "a server's own"}]},
                    CALL,
                    {"type": "function_call_output", "call_id": "c", "output": "ok", "id": "o"},
                    {"type": "custom_tool_call", "call_id": "d", "name": "p", "input": "x"},
                    {"type": "web_search_call", "action": {"query": "q"}},
                ],
            },
        ),
        ("responses", {"input": user({"type": "input_file", "file_data": "data:text/plain,a"})}),
        ("responses", {"input": "previous_response_id"}),
        ("chat", {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}),
        ("chat", {"messages": user({"type": "file", "file": {"file_data": "JVBERi0xLjcK"}})}),
        ("chat", {"prompt": "text of an old API"}),
        (
            "anthropic",
            {
                "container": None,
                "metadata": {"user_id": "u"},
                "messages": user(
                    {"type": "tool_result", "tool_use_id": "t", "content": "ok"},
                    {"type": "tool_use", "id": "t", "input": {"file_id": "the tool's own"}},
                ),
            },
        ),
        ("gemini", {"contents": [{"parts": [{"functionResponse": {"id": "c", "name": "f"}}]}]}),
    ],
)
def test_content_that_stands_in_the_request_passes(api, data):
    """Agents that keep nothing at the provider work as they do without us."""
    refuse_stored(data, ROUTES[api])


def test_reasoning_that_is_an_id_alone_tells_what_to_ask_for():
    """The client can have it whole."""
    data = {"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}

    with pytest.raises(RefusedCallError, match=r"reasoning\.encrypted_content"):
        refuse_stored(data, ROUTES["responses"])


@pytest.mark.parametrize(
    ("api", "data", "found"),
    [
        ("responses", {}, {"store": False}),
        ("responses", {"store": True}, {"store": False}),
        ("responses", {"store": None}, {"store": False}),
        ("responses", {"store": False}, {"store": False}),
        ("chat", {"store": True}, {"store": False}),
        ("chat", {}, {}),
        ("anthropic", {}, {}),
        ("gemini", {}, {}),
    ],
)
def test_provider_is_asked_to_keep_nothing(api, data, found):
    """Responses are kept unless a request says otherwise, Chat's are not."""
    assert not_kept(data, ROUTES[api]) == found


def test_request_that_keeps_nothing_stays_the_same_object():
    """So that its bytes go on as they came."""
    data = {"store": False}

    assert not_kept(data, ROUTES["responses"]) is data
