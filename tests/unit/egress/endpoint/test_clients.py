"""Connections to providers."""

import ssl
from dataclasses import replace

import anyio
import httpx2
import pytest

from orchestrator.egress.endpoint.clients import WHOLE_S, open_clients, timeouts
from tests.support.company_proxy import company_proxy_server
from tests.support.endpoints import provider
from tests.support.model_server import Reply, serving


def test_own_servers_are_asked_directly():
    """No proxy of the environment stands between, and time-outs are the provider's."""

    async def run(address):
        upstream = provider("p", address, "openai-chat", idle_timeout_s=7)
        async with open_clients(ssl.create_default_context()) as clients:
            assert clients.of(upstream) is clients.direct
            assert timeouts(upstream, streams=True)["read"] == 7
            assert timeouts(upstream, streams=False)["read"] == WHOLE_S
            return await clients.of(upstream).get(address)

    with serving(Reply(body={})) as server:
        assert anyio.run(run, server.address).status_code == 200


def test_certificate_that_nobody_vouches_for_is_refused():
    """The host's store decides."""

    async def run():
        async with open_clients(ssl.create_default_context()) as clients:
            upstream = provider("p", "https://x.example", "openai-chat")
            server = await anyio.create_tcp_listener(local_host="127.0.0.1")

            async def end(stream):
                async with stream:
                    await stream.receive()

            async with anyio.create_task_group() as group:
                group.start_soon(server.serve, end)
                port = server.extra(anyio.abc.SocketAttribute.local_port)
                with pytest.raises(httpx2.ConnectError):
                    await clients.of(upstream).get(f"https://127.0.0.1:{port}/")
                group.cancel_scope.cancel()
            await server.aclose()

    anyio.run(run)


def test_providers_elsewhere_are_asked_by_the_proxy_of_the_environment(monkeypatch):
    """As the host's own calls are; the session's upstream proxy is not theirs."""

    async def run():
        async with company_proxy_server({}) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            near = provider("p", "https://llm.acme.example", "openai-chat")
            upstream = replace(near, direct=False)
            async with open_clients(ssl.create_default_context()) as clients:
                with pytest.raises(httpx2.ProxyError):
                    await clients.of(upstream).get("https://llm.acme.example/v1/models")
            return proxy.asked

    (asked,) = anyio.run(run)
    assert "CONNECT llm.acme.example:443" in asked
