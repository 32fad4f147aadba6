"""Requests of programs in the box, over real sockets, to providers on loopback."""

import contextlib

import anyio
import httpx2
import pytest

from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.memory import stream_pair
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.egress import Caller
from orchestrator.schema.message import Usage
from tests.support.endpoints import ANY, KEY, PLACEHOLDER, endpoint, provider
from tests.support.model_server import (
    Reply,
    anthropic_reply,
    chat_reply,
    responses_reply,
    serving,
)

ASK = {"model": "claude-x", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
ANSWER = {"type": "message", "content": [], "usage": {"input_tokens": 3, "output_tokens": 2}}


async def post(served, path, body, **more):
    headers = {"x-api-key": PLACEHOLDER} | more.pop("headers", {})
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        return await http.post(f"{served.address}{path}", json=body, headers=headers, **more)


def test_call_carries_the_hosts_key_and_not_the_placeholder():
    """The key is put in on the host; query and the client's own headers are kept."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            sent = {
                "anthropic-beta": "a,b",
                "anthropic-version": "2023-06-01",
                "authorization": f"Bearer {PLACEHOLDER}",
                "cookie": "a=b",
                "x-http-method-override": "DELETE",
            }
            answer = await post(
                served, f"/v1/messages?beta=true&key={PLACEHOLDER}", ASK, headers=sent
            )
            return answer, served.desk

    with serving(Reply(body=ANSWER, headers={"set-cookie": "x=y", "request-id": "r1"})) as server:
        answer, desk = anyio.run(run, server.address)

    asked = server.asked[0]
    assert answer.status_code == 200
    assert answer.json() == ANSWER
    assert answer.headers["request-id"] == "r1"
    assert "set-cookie" not in answer.headers
    assert asked.path == "/v1/messages?beta=true"
    assert asked.body == ASK
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-beta"] == "a,b"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert not {"authorization", "cookie", "x-http-method-override"} & asked.headers.keys()
    assert PLACEHOLDER not in str(asked)
    call, outcome = desk.ended[0]
    assert (call.provider, call.model, call.path) == ("anthropic", "claude-x", "/v1/messages")
    assert (outcome.status, outcome.usage) == (200, Usage(3, 2))
    assert outcome.cost_usd == pytest.approx(23e-6)


@pytest.mark.parametrize(
    ("path", "reply", "apis", "body"),
    [
        ("/v1/messages", anthropic_reply(text="Hello"), "anthropic", ASK | {"stream": True}),
        ("/chat/completions", chat_reply(text="Hello"), "openai-chat", ASK | {"stream": True}),
        (
            "/v1/responses",
            responses_reply(text="Hello"),
            "openai-responses",
            ASK | {"stream": True},
        ),
    ],
)
def test_stream_passes_unchanged_and_its_usage_is_counted(path, reply, apis, body):
    """Every API reports its tokens in another place of the stream."""

    async def run(address):
        async with endpoint(provider("p", address, apis)) as served:
            answer = await post(served, path, body)
            direct = httpx2.post(f"{address}{path}", json=body, trust_env=False)
            return answer, direct, served

    with serving(reply) as server:
        answer, direct, served = anyio.run(run, server.address)

    assert answer.content == direct.content
    assert answer.headers["content-type"] == "text/event-stream"
    _, outcome = served.desk.ended[0]
    assert outcome.usage == Usage(11, 7, 5, 3)
    assert not outcome.estimated
    assert outcome.problem == ""
    assert served.budget.spent.usage == Usage(11, 7, 5, 3)


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({}, ""),
        ({"x-api-key": KEY}, ""),
        ({"x-api-key": PLACEHOLDER, "authorization": "Bearer other"}, ""),
        ({"authorization": "Basic abc"}, ""),
        ({"x-api-key": PLACEHOLDER}, "?key=other"),
    ],
)
def test_any_other_key_is_refused(headers, query):
    """Nobody's own key goes out by this way, and no guess does."""

    async def run(address):
        async with (
            endpoint(provider("anthropic", address, "anthropic")) as served,
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            url = f"{served.address}/v1/messages{query}"
            return await http.post(url, json=ASK, headers=headers), served.desk

    with serving(Reply(body=ANSWER)) as server:
        answer, desk = anyio.run(run, server.address)

    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"
    assert server.asked == []
    assert [call.effect for call in desk.begun] == ["deny"]


def test_call_that_cannot_be_recorded_is_not_made():
    """No record, no action; what was held comes back."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic"), terms=LIMITED) as served:
            served.desk.broken = True
            refused = await post(served, "/v1/messages", ASK)
            served.desk.broken = False
            return refused, await post(served, "/v1/messages", ASK)

    with serving(Reply(body=ANSWER)) as server:
        refused, taken = anyio.run(run, server.address)

    assert refused.status_code == 403
    assert "cannot be recorded" in refused.json()["error"]["message"]
    assert taken.status_code == 200
    assert len(server.asked) == 1


LIMITED = BoxModels(in_box="allow", allow=(("*",),), tokens=150)


def test_calls_beside_each_other_cannot_pass_a_budget_together():
    """What each may take is held until it is over; what is spent for good is another answer."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic"), terms=LIMITED) as served:
            answers = []

            async def one():
                async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
                    url, headers = f"{served.address}/v1/messages", {"x-api-key": PLACEHOLDER}
                    async with http.stream("POST", url, json=ASK, headers=headers) as answer:
                        answers.append(answer)
                        with contextlib.suppress(httpx2.RemoteProtocolError):
                            await answer.aread()

            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(one)
            return answers, await post(served, "/v1/messages", ASK | {"max_tokens": 500})

    slow = Reply(events=({"type": "ping"},), silent_s=0.3)
    with serving(slow) as server:
        answers, last = anyio.run(run, server.address)

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses.count(200) == len(server.asked) <= 2
    assert set(statuses) == {200, 429}
    assert all(a.headers["retry-after"] for a in answers if a.status_code == 429)
    assert last.status_code == 403
    assert last.headers["x-should-retry"] == "false"
    assert "has 123 tokens left, and this call may take 527" in last.json()["error"]["message"]


def test_hostile_provider_that_repeats_the_key_is_scrubbed():
    """In headers and body, in whatever pieces."""
    echo = Reply(status=400, body={"error": f"bad key {KEY}"}, headers={"x-request-id": f"r-{KEY}"})

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            return await post(served, "/v1/messages", ASK), served.desk

    with serving(echo) as server:
        answer, desk = anyio.run(run, server.address)

    assert answer.status_code == 400
    assert answer.json() == {"error": f"bad key {PLACEHOLDER}"}
    assert answer.headers["x-request-id"] == f"r-{PLACEHOLDER}"
    assert KEY not in str(desk.begun) + str(desk.ended)


def test_client_that_goes_away_ends_the_call_at_the_provider():
    """Nobody pays for what nobody reads; what had passed is counted, as a guess."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
                headers = {"x-api-key": PLACEHOLDER}
                body = ASK | {"stream": True}
                url = f"{served.address}/v1/messages"
                async with http.stream("POST", url, json=body, headers=headers) as answer:
                    async for _ in answer.aiter_raw():
                        break
            with anyio.fail_after(5):
                await served.desk.one_ended.wait()
            return served.desk.ended[0][1]

    events = anthropic_reply(text="Hello").events[:4]
    with serving(Reply(events=events, silent_s=30)) as server:
        outcome = anyio.run(run, server.address)

    assert outcome.problem == "the client went away"
    assert outcome.estimated
    assert outcome.usage.input == 11


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/", 200),
        ("GET", "/api/hello", 200),
        ("HEAD", "/api/hello", 200),
        ("DELETE", "/", 405),
        ("GET", "/v1/messages", 405),
        ("POST", "/v1/files", 404),
        ("POST", "/v1/messages/batches", 404),
        ("POST", "/v1/responses/../files", 404),
    ],
)
def test_other_paths(method, path, status):
    """A greeting needs no key; the rest does not exist, and says what does."""

    async def run():
        async with endpoint() as served, httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            headers = {"x-api-key": PLACEHOLDER} if method != "HEAD" else {}
            return await http.request(method, f"{served.address}{path}", headers=headers)

    answer = anyio.run(run)
    assert answer.status_code == status
    if status == 404:
        assert "there is POST /v1/messages" in answer.json()["error"]["message"]


def test_websocket_is_told_at_once_to_post():
    """Clients that try a socket first fall back on this answer."""

    async def run():
        async with endpoint() as served, httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            headers = {"upgrade": "websocket", "connection": "Upgrade"}
            return await http.get(f"{served.address}/v1/responses", headers=headers), served.desk

    answer, desk = anyio.run(run)
    assert answer.status_code == 426
    assert desk.begun == []


def test_many_at_once_are_all_answered():
    """Two hundred streams beside each other, each its own."""

    async def run(address):
        async with (
            endpoint(provider("p", address, "openai-chat")) as served,
            httpx2.AsyncClient(
                trust_env=False, timeout=60, limits=httpx2.Limits(max_connections=300)
            ) as http,
        ):
            texts = []

            async def one(number):
                headers = {"authorization": f"Bearer {PLACEHOLDER}"}
                url = f"{served.address}/v1/chat/completions"
                answer = await http.post(url, json=ASK | {"user": str(number)}, headers=headers)
                texts.append(answer.text)

            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for number in range(200):
                        group.start_soon(one, number)
            return texts, served

    with serving(chat_reply(text="Hello")) as server:
        texts, served = anyio.run(run, server.address)

    assert len(texts) == 200
    assert all("[DONE]" in text for text in texts)
    assert served.budget.spent.requests == 200
    assert served.budget.spent.usage.total == 200 * 26


def test_provider_that_sends_elsewhere_gets_no_key_followed():
    """A redirect is an answer of its own."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            return await post(served, "/v1/messages", ASK)

    moved = Reply(status=307, headers={"location": "http://127.0.0.1:1/"}, body={})
    with serving(moved) as server:
        answer = anyio.run(run, server.address)

    assert answer.status_code == 502
    assert "elsewhere (307)" in answer.json()["error"]["message"]
    assert "127.0.0.1:1" not in answer.text


def test_provider_that_is_not_there_is_told_in_the_apis_form():
    """The end has its record, and nothing is counted."""

    async def run():
        async with endpoint(provider("p", "http://127.0.0.1:1", "openai-chat")) as served:
            headers = {"authorization": f"Bearer {PLACEHOLDER}"}
            return await post(served, "/v1/chat/completions", ASK, headers=headers), served

    answer, served = anyio.run(run)

    assert answer.status_code == 502
    assert answer.json()["error"]["message"] == "provider p: no connection (ConnectError)"
    assert served.desk.ended[0][1].problem == "ConnectError"
    assert served.budget.spent.usage == Usage()
    assert [call.effect for call in served.desk.begun] == ["allow"]


def test_rules_are_read_anew_for_each_request():
    """A policy that was tightened holds for the next call of an open connection."""

    async def run(address):
        async with (
            endpoint(provider("anthropic", address, "anthropic")) as served,
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            url, headers = f"{served.address}/v1/messages", {"x-api-key": PLACEHOLDER}
            first = await http.post(url, json=ASK, headers=headers)
            served.terms = BoxModels(in_box="deny", allow=ANY.allow)
            return first, await http.post(url, json=ASK, headers=headers), len(served.streams)

    with serving(Reply(body=ANSWER)) as server:
        first, second, connections = anyio.run(run, server.address)

    assert (first.status_code, second.status_code, connections) == (200, 403, 1)
    assert second.headers["x-glovebox-rule"] == "models.in_box"


def test_model_list_holds_what_may_be_asked_for():
    """All providers of the API together, by policy."""
    rows = {"data": [{"id": "claude-a"}, {"id": "claude-b"}, {"id": 3}]}

    async def run(address):
        terms = BoxModels(in_box="allow", allow=(("one/claude-a", "two/*"),))
        one = provider("one", address, "anthropic")
        two = provider("two", address, "anthropic")
        async with (
            endpoint(one, two, terms=terms) as served,
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            headers = {"x-api-key": PLACEHOLDER}
            return await http.get(f"{served.address}/v1/models?limit=5", headers=headers)

    with serving(Reply(body=rows)) as server:
        answer = anyio.run(run, server.address)

    assert [row["id"] for row in answer.json()["data"]] == ["claude-a", "claude-a", "claude-b"]
    assert {asked.path for asked in server.asked} == {"/v1/models?limit=1000"}


def test_caller_and_digest_are_recorded_and_the_body_is_not():
    """A record says who asked, and what by its digest."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            served.caller = Caller(7, "/usr/bin/curl")
            await post(served, "/v1/messages?beta=true", ASK)
            return served.desk.begun[0]

    with serving(Reply(body=ANSWER)) as server:
        begun = anyio.run(run, server.address)

    assert begun.caller == Caller(7, "/usr/bin/curl")
    assert begun.path == "/v1/messages"
    assert begun.body_digest.startswith("sha256:")
    assert begun.body_bytes > 0
    assert "hi" not in str(begun)


def test_price_that_is_not_known_cannot_be_counted():
    """A limit in money holds or the call is refused."""
    terms = BoxModels(in_box="allow", allow=(("*",),), cost_usd=5)

    async def run(address):
        unknown = provider("corp", address, "anthropic", price=lambda _: Price())
        async with endpoint(unknown, terms=terms) as served:
            return await post(served, "/v1/messages", ASK)

    with serving(Reply(body=ANSWER)) as server:
        answer = anyio.run(run, server.address)

    assert answer.status_code == 403
    assert "providers.corp.models.claude-x.input_price" in answer.json()["error"]["message"]


def test_one_model_is_shown_where_it_may_be_asked():
    """By the provider that would answer; the name in the path is the provider's own."""

    async def run(address):
        terms = BoxModels(in_box="allow", allow=(("p/*",),), map=(("small", "p/big"),))
        async with (
            endpoint(provider("p", address, "openai-chat"), terms=terms) as served,
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            headers = {"authorization": f"Bearer {PLACEHOLDER}"}
            shown = await http.get(f"{served.address}/v1/models/small", headers=headers)
            with anyio.fail_after(5):
                await served.desk.one_ended.wait()
            served.terms = BoxModels(in_box="allow", allow=(("q/*",),))
            refused = await http.get(f"{served.address}/v1/models/small", headers=headers)
            return shown, refused, served.desk

    with serving(Reply(body={"id": "big"})) as server:
        shown, refused, desk = anyio.run(run, server.address)

    assert shown.json() == {"id": "big"}
    assert [(asked.method, asked.path) for asked in server.asked] == [("GET", "/models/big")]
    assert desk.ended[0][1].usage is None
    assert (refused.status_code, desk.begun[1].effect) == (403, "deny")


def test_list_that_no_provider_gives_ends_in_the_record():
    """As the end of the call, not as a refusal by policy."""

    async def run():
        async with (
            endpoint(provider("p", "http://127.0.0.1:1", "openai-chat")) as served,
            httpx2.AsyncClient(trust_env=False, timeout=60) as http,
        ):
            headers = {"authorization": f"Bearer {PLACEHOLDER}"}
            return await http.get(f"{served.address}/v1/models", headers=headers), served.desk

    answer, desk = anyio.run(run)

    assert answer.status_code == 502
    assert [call.effect for call in desk.begun] == ["allow"]
    assert desk.ended[0][1].problem == "no list"


def test_client_that_breaks_off_while_it_is_answered_is_let_go():
    """What it does not take is not kept for it."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            here, there = stream_pair(capacity=1024)
            body = b'{"model": "m", "max_tokens": 5, "stream": true}'
            head = (
                f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {PLACEHOLDER}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            await there.send(head.encode() + body)
            async with anyio.create_task_group() as group:
                group.start_soon(served.endpoint.serve, here, None)
                await there.receive()
                await there.close()
            return served.desk.ended[0][1]

    events = tuple({"type": "ping", "text": "x" * 3000} for _ in range(50))
    with serving(Reply(events=events)) as server:
        outcome = anyio.run(run, server.address)

    assert outcome.problem == "the client went away"
    assert outcome.status == 200


def test_session_that_ends_ends_calls_and_counts_them():
    """What had passed is settled and recorded, though nobody waits for it any more."""

    async def run(address):
        async with endpoint(provider("anthropic", address, "anthropic")) as served:
            here, there = stream_pair()
            body = b'{"model": "m", "max_tokens": 5, "stream": true}'
            head = (
                f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {PLACEHOLDER}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            await there.send(head.encode() + body)
            async with anyio.create_task_group() as group:
                group.start_soon(served.endpoint.serve, here, None)
                await there.receive()
                group.cancel_scope.cancel()
            return served.desk.ended[0][1], served.budget.spent

    with serving(Reply(events=anthropic_reply(text="Hi").events[:3], silent_s=30)) as server:
        outcome, spent = anyio.run(run, server.address)

    assert outcome.problem == "the session ended"
    assert outcome.estimated
    assert spent.requests == 1
