"""Lists of models, put together and filtered."""

import ssl

import anyio
import pytest

from orchestrator.egress.endpoint.clients import open_clients
from orchestrator.egress.endpoint.listing import list_models
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import find_route
from orchestrator.policy.box_models import BoxModels
from tests.support.endpoints import KEY, provider
from tests.support.model_server import Reply, serving

OPENAI = find_route("GET", "/v1/models", {})
GEMINI = find_route("GET", "/v1beta/models", {})


def listed(route, reply, *globs, api="openai-chat", more=()):
    """Return what a client gets where one provider answers so."""

    async def run(address):
        terms = BoxModels(in_box="allow", allow=(globs or ("*",),))
        upstreams = [provider("p", address, api), *more]
        async with open_clients(ssl.create_default_context()) as clients:
            return await list_models([], route, upstreams, terms=terms, clients=clients)

    with serving(reply) as server:
        return anyio.run(run, server.address), server.asked


def test_gemini_names_models_with_a_word_before():
    """Policy names them without it."""
    rows = {"models": [{"name": "models/gemini-a"}, {"name": "models/gemini-b"}]}
    page, asked = listed(GEMINI, Reply(body=rows), "p/gemini-a", api="gemini")

    assert page == {"models": [{"name": "models/gemini-a"}]}
    assert asked[0].path == "/v1beta/models?pageSize=1000"
    assert asked[0].headers["x-goog-api-key"] == KEY


def test_provider_that_gives_no_list_is_left_out():
    """What the others have is told."""
    gone = provider("gone", "http://127.0.0.1:1", "openai-chat")
    page, _ = listed(OPENAI, Reply(body={"data": [{"id": "m"}]}), more=[gone])

    assert page == {"object": "list", "data": [{"id": "m"}]}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500, body={"data": []}),
        Reply(body=b"not json"),
        Reply(body={"data": "none"}),
        Reply(body=[1]),
        Reply(body=b"x" * (9 * 1024 * 1024)),
        Reply(status=302, headers={"location": "/elsewhere"}, body={"data": []}),
    ],
)
def test_no_list_at_all_is_an_error(reply):
    """A list without rows would say that nothing is allowed."""
    with pytest.raises(RefusedCallError) as caught:
        listed(OPENAI, reply)

    assert caught.value.status == 502


@pytest.mark.parametrize(("glob", "rows"), [("*", 1), ("p/*", 0)])
def test_model_that_is_started_by_its_first_call_is_listed_without_it(glob, rows):
    """Its name is known, and a list is no reason to start it."""

    async def never():
        raise AssertionError("started")

    local = provider("local", "", "openai-chat", key=None, only_model="small", open=never)
    page, _ = listed(OPENAI, Reply(body={"data": []}), glob, more=[local])

    assert page["data"] == [{"id": "small", "object": "model"}][:rows]
