"""What a body does not show."""

import pytest

from orchestrator.egress.endpoint.routes import find_route
from orchestrator.egress.endpoint.unseen import brings_more, has_pages, pictures

ANTHROPIC = find_route("POST", "/v1/messages", {})
CHAT = find_route("POST", "/chat/completions", {})
RESPONSES = find_route("POST", "/responses", {})
GEMINI = find_route("POST", "/v1beta/models/g:generateContent", {})


@pytest.mark.parametrize(
    ("route", "data", "more"),
    [
        (RESPONSES, {"previous_response_id": "r"}, True),
        (RESPONSES, {"tools": [{"type": "web_search"}]}, True),
        (CHAT, {"web_search_options": {}}, True),
        (CHAT, {"messages": [{"content": [{"image_url": {"url": "https://x.example"}}]}]}, True),
        (GEMINI, {"cachedContent": "c"}, True),
        (RESPONSES, {"input": "hello", "tools": [{"type": "function", "name": "f"}]}, False),
    ],
)
def test_provider_brings_more_where_it_was_let(route, data, more):
    """What policy would take out else is what the body does not show."""
    assert brings_more(data, route) is more


def parts(route, block):
    if route is GEMINI:
        return {"contents": [{"parts": [block]}]}
    return {"messages" if route is not RESPONSES else "input": [{"content": [block]}]}


def held(kind):
    return {"type": "base64", "media_type": kind, "data": "A" * 50}


@pytest.mark.parametrize(
    ("route", "block", "sizes", "pages"),
    [
        (ANTHROPIC, {"type": "image", "source": held("image/png")}, [50], False),
        (ANTHROPIC, {"type": "document", "source": held("application/pdf")}, [], True),
        (CHAT, {"image_url": {"url": "data:image/png;base64,AAAA"}}, [26], False),
        (CHAT, {"type": "file", "file": {"file_data": "JVBERi0xLjcK"}}, [], True),
        (RESPONSES, {"type": "input_image", "image_url": "data:image/png;base64,AA"}, [24], False),
        (RESPONSES, {"file_data": "data:application/pdf;base64,AA"}, [], True),
        (GEMINI, {"inlineData": {"mimeType": "image/png", "data": "AAA"}}, [3], False),
        (GEMINI, {"inline_data": {"mime_type": "video/mp4", "data": "AAA"}}, [], True),
        (GEMINI, {"inlineData": {"data": "AAA"}}, [], True),
        (CHAT, {"type": "text", "text": "A" * 5000}, [], False),
    ],
)
def test_pictures_have_sizes_and_documents_have_pages(route, block, sizes, pages):
    """A type says which of the two; a text has neither, however it looks."""
    data = parts(route, block)

    assert pictures(data, route) == sizes
    assert has_pages(data, route) is pages
