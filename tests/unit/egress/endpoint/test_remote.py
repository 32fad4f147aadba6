"""What the provider would do elsewhere."""

import pytest

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.remote import without_remote
from orchestrator.egress.endpoint.routes import find_route

ROUTES = {
    "anthropic": find_route("POST", "/v1/messages", {}),
    "chat": find_route("POST", "/chat/completions", {}),
    "responses": find_route("POST", "/responses", {}),
    "gemini": find_route("POST", "/v1beta/models/g:generateContent", {}),
}
OUT = "https://collect.example/?secret=1"


@pytest.mark.parametrize(
    ("api", "tools", "kept"),
    [
        (
            "anthropic",
            [
                {"name": "Bash", "input_schema": {}},
                {"type": "custom", "name": "x"},
                {"type": "bash_20250124", "name": "bash"},
                {"type": "web_search_20250305", "name": "web_search"},
                {"type": "web_fetch_20250910", "name": "web_fetch"},
                {"type": "code_execution_20250825", "name": "c"},
                {"type": "mcp_toolset", "mcp_server_name": "s"},
                {"type": "new_thing_20270101", "name": "n"},
            ],
            [0, 1, 2],
        ),
        (
            "responses",
            [
                {"type": "function", "name": "f"},
                {"type": "custom", "name": "apply_patch"},
                {"type": "local_shell"},
                {"type": "web_search", "external_web_access": True},
                {"type": "mcp", "server_url": OUT},
                {"type": "code_interpreter"},
                {"type": "file_search"},
                {"type": "image_generation"},
                {"type": ["function"]},
            ],
            [0, 1, 2],
        ),
        ("chat", [{"type": "function", "function": {}}, {"type": "web_search"}], [0]),
        (
            "gemini",
            [
                {"functionDeclarations": []},
                {"googleSearch": {}},
                {"urlContext": {}},
                {"code_execution": {}},
            ],
            [0],
        ),
    ],
)
def test_tools_that_the_provider_runs_are_taken_away(api, tools, kept):
    """What is not known to run with the client counts as the provider's."""
    found = without_remote({"tools": tools, "model": "m"}, ROUTES[api])

    assert found == {"tools": [tools[at] for at in kept], "model": "m"}


def test_group_of_tools_is_looked_into():
    """A namespace may hold what it is not called."""
    inner = [{"type": "function", "name": "f"}, {"type": "web_search"}]
    data = {"tools": [{"type": "namespace", "name": "n", "tools": inner}]}

    assert without_remote(data, ROUTES["responses"]) == {
        "tools": [{"type": "namespace", "name": "n", "tools": inner[:1]}]
    }


def test_one_gemini_tool_of_two_kinds_keeps_the_clients():
    """Kinds stand beside each other in one object."""
    data = {"tools": [{"function_declarations": [1], "google_search": {}}]}

    assert without_remote(data, ROUTES["gemini"]) == {"tools": [{"function_declarations": [1]}]}


def test_request_with_the_providers_tools_alone_goes_without_tools():
    """An empty list is an error to some."""
    data = {"tools": [{"type": "web_search"}], "web_search_options": {}, "model": "m"}

    assert without_remote(data, ROUTES["chat"]) == {"model": "m"}


@pytest.mark.parametrize(
    ("api", "data"),
    [
        ("anthropic", {"mcp_servers": [{"url": OUT}]}),
        (
            "anthropic",
            {"messages": [{"content": [{"type": "image", "source": {"type": "url", "url": OUT}}]}]},
        ),
        (
            "anthropic",
            {
                "messages": [
                    {
                        "content": [
                            {
                                "type": "tool_result",
                                "content": [
                                    {"type": "document", "source": {"type": "url", "url": OUT}}
                                ],
                            }
                        ]
                    }
                ]
            },
        ),
        ("chat", {"messages": [{"content": [{"type": "image_url", "image_url": {"url": OUT}}]}]}),
        ("chat", {"messages": [{"content": [{"type": "video_url", "video_url": {"url": OUT}}]}]}),
        ("responses", {"input": [{"content": [{"type": "input_image", "image_url": OUT}]}]}),
        ("responses", {"input": [{"content": [{"type": "input_file", "file_url": OUT}]}]}),
        ("responses", {"input": [{"output": {"image_url": OUT}}]}),
        ("responses", {"input": [{"output": [{"type": "input_image", "image_url": OUT}]}]}),
        ("responses", {"input": {"content": {"type": "input_image", "image_url": OUT}}}),
    ],
)
def test_content_that_lies_elsewhere_is_refused(api, data):
    """An address that the provider fetches is a message to whoever answers there."""
    with pytest.raises(RefusedCallError) as caught:
        without_remote(data, ROUTES[api])

    assert caught.value.status == 403
    assert caught.value.rule == "models.box.remote"
    assert OUT not in caught.value.message


@pytest.mark.parametrize(
    ("api", "data"),
    [
        ("chat", {"messages": [{"content": [{"image_url": {"url": "data:image/png;base64,AA"}}]}]}),
        ("chat", {"messages": [{"role": "user", "content": f"see {OUT}"}]}),
        ("responses", {"input": f"see {OUT}"}),
        ("responses", {"input": [{"type": "web_search_call", "action": {"url": OUT}}]}),
        (
            "anthropic",
            {"messages": [{"content": [{"type": "tool_use", "input": {"image_url": OUT}}]}]},
        ),
        ("anthropic", {"tools": [{"name": "Bash"}], "mcp_servers": []}),
        ("gemini", {"contents": [{"parts": [{"inlineData": {"data": "AA"}}]}]}),
    ],
)
def test_content_of_the_request_itself_passes_untouched(api, data):
    """Texts that name an address fetch nothing; the object is the same."""
    assert without_remote(data, ROUTES[api]) is data


def test_tools_of_another_form_are_refused():
    """What cannot be read cannot be judged."""
    with pytest.raises(RefusedCallError, match="expected a list of objects"):
        without_remote({"tools": {"googleSearch": {}}}, ROUTES["gemini"])
