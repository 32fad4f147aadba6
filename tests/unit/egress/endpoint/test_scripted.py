"""The desk that keeps its records in memory."""

import anyio
import pytest

from orchestrator.egress.endpoint.model_call import CallOutcome, ModelCall
from orchestrator.egress.endpoint.scripted import ScriptedDesk
from orchestrator.errors import AuditUnavailable

CALL = ModelCall(1, "POST", "/v1/messages", 2, None, None)


def test_desk_keeps_both_ends_and_fails_on_request():
    """As an audit that cannot be written."""

    async def run():
        desk = ScriptedDesk()
        await desk.begin(CALL)
        await desk.end(CALL, CallOutcome(200))
        desk.broken = True
        with pytest.raises(AuditUnavailable):
            await desk.begin(CALL)
        return desk

    desk = anyio.run(run)
    assert (desk.begun, desk.ended) == ([CALL], [(CALL, CallOutcome(200))])
    assert desk.one_ended.is_set()
