import anyio
import pytest

from orchestrator.egress.ledger import Ledger
from orchestrator.egress.live import BY_RULES, Live
from orchestrator.egress.scripted import Let, ScriptedGatekeeper
from orchestrator.schema.egress import EgressRequest

REQUEST = EgressRequest("connect", "https", "a.example", 443)


def carrying(act, idle_s=10.0):
    async def run():
        gate = ScriptedGatekeeper([Let("a.example")])
        live = Live(gate, Ledger())
        admission = await gate.admit(REQUEST, None)
        with live.carry(admission, idle_s=idle_s) as carried:
            await act(live, gate, carried)
        return gate.ended[0][1], live.recheck()

    return anyio.run(run)


def test_the_end_is_told_once_with_what_passed():
    async def act(_live, _gate, carried):
        carried.meter.head("upload", 3)
        carried.meter.body("download", 4)
        carried.status, carried.address = 200, "203.0.113.1"

    traffic, _ = carrying(act)

    assert (traffic.bytes_up, traffic.bytes_down, traffic.status) == (3, 4, 200)
    assert (traffic.address, traffic.problem) == ("203.0.113.1", "")


def test_silence_ends_it_and_bytes_put_that_off():
    async def act(_live, _gate, carried):
        for _ in range(6):
            await anyio.sleep(0.05)
            carried.touch()
        carried.status = 1
        await anyio.sleep_forever()

    traffic, _ = carrying(act, idle_s=0.15)

    assert traffic.status == 1
    assert traffic.problem == "nothing passed for 0.15 seconds"


def test_only_what_the_rules_no_longer_let_is_ended():
    async def act(live, gate, _carried):
        assert live.recheck() == 0
        gate.judge = ScriptedGatekeeper().judge
        assert live.recheck() == 1
        await anyio.sleep_forever()

    traffic, again = carrying(act)

    assert traffic.problem == BY_RULES
    assert again == 0


def test_an_error_inside_is_an_end_too():
    async def act(_live, _gate, _carried):
        raise KeyError

    with pytest.raises(KeyError):
        carrying(act)
