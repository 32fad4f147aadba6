"""The bundled model, started when it is asked for."""

import os

import anyio
import pytest

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.harness.box_models.local_provider import LocalProvider, has_local_model
from tests.support.endpoints import PLACEHOLDER, endpoint
from tests.unit.egress.endpoint.test_server import post


@pytest.mark.model
def test_real_model_answers_programs_of_both_families():
    """One server for the session, started by the first call alone, gone with it."""
    assert has_local_model()

    async def run():
        local = LocalProvider(os.environ)
        async with local.running(), endpoint(local.upstream()) as served:
            assert local._server is None
            ask = {
                "model": "local",
                "max_tokens": 8,
                "messages": [{"role": "user", "content": "hi"}],
            }
            bearer = {"authorization": f"Bearer {PLACEHOLDER}"}
            first = await post(served, "/v1/messages", ask | {"stream": True}, timeout=120)
            pid = local._server.pid
            second = await post(served, "/v1/chat/completions", ask, headers=bearer, timeout=120)
            assert local._server.pid == pid
            return first, second, served, pid

    first, second, served, pid = anyio.run(run)

    assert first.status_code == second.status_code == 200, (first.text, second.text)
    assert b"message_stop" in first.content
    assert second.json()["choices"][0]["message"]
    assert [call.model for call, _ in served.desk.ended] == ["smollm2-135m"] * 2
    assert served.budget.spent.usage.output > 0
    assert served.budget.spent.cost_usd == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_model_that_cannot_start_is_an_answer():
    """Each call says why, and the next is not kept waiting."""

    async def run():
        local = LocalProvider({})
        local._started, local._failure = True, "the server ended"
        local._ready.set()
        for _ in range(2):
            with pytest.raises(RefusedCallError, match="provider local: the server ended"):
                await local.opened()

    anyio.run(run)
