import anyio
import pytest

from orchestrator.egress.dialing import Dialing, UnreachableError
from orchestrator.egress.limits import Limits
from orchestrator.egress.scripted import Let, ScriptedDialer, ScriptedGatekeeper, ScriptedResolver
from orchestrator.egress.targets import Place
from orchestrator.egress.upstream import MAX_IDLE, Pool
from orchestrator.schema.egress import EgressRequest

HTTP = Place("http", "a.example", 80)
OTHER = Place("http", "a.example", 81)


def pooling(act, tls=None):
    async def run():
        gate = ScriptedGatekeeper([Let("a.example", "http")])
        admission = await gate.admit(EgressRequest("http", "http", "a.example", 80, "GET"), None)
        places = {("203.0.113.1", port): None for port in (80, 81, 443)}
        dialer = ScriptedDialer(places)
        resolver = ScriptedResolver({"a.example": ["203.0.113.1"]})
        limits = Limits(tls_s=0.2)
        async with anyio.create_task_group() as tasks:
            pool = Pool(Dialing(resolver, dialer, limits), tls, tasks=tasks, limits=limits)
            result = await act(pool, admission, dialer)
            await pool.close()
        return result

    return anyio.run(run)


def test_a_connection_serves_its_own_place_again_and_no_other():
    async def act(pool, admission, _dialer):
        first = await pool.take(HTTP, admission)
        await pool.give_back(first)
        other = await pool.take(OTHER, admission)
        again = await pool.take(HTTP, admission)
        return first is again, first is other, again.used

    assert pooling(act) == (True, False, True)


@pytest.mark.parametrize("how", ["said more", "left"])
def test_a_connection_that_is_not_quiet_is_not_used_again(how):
    async def act(pool, admission, dialer):
        first = await pool.take(HTTP, admission)
        await pool.give_back(first)
        far = await dialer.accept()
        await far.send(b"" if how == "left" else b"HTTP/1.1 200 OK\r\n", last=how == "left")
        await anyio.wait_all_tasks_blocked()
        return await pool.take(HTTP, admission) is first

    assert pooling(act) is False


def test_no_more_than_a_few_wait():
    async def act(pool, admission, dialer):
        taken = [await pool.take(HTTP, admission) for _ in range(MAX_IDLE + 2)]
        far = [await dialer.accept() for _ in taken]
        for upstream in taken:
            await pool.give_back(upstream)
        await anyio.wait_all_tasks_blocked()
        return [end.peer.closed for end in far].count(True)

    assert pooling(act) == 2


class Silent:
    """Never agrees on TLS."""

    async def terminate(self, stream, host):
        raise NotImplementedError

    async def connect(self, stream, host):  # noqa: ARG002 - the seam's
        await anyio.sleep_forever()


class Reset(Silent):
    async def connect(self, stream, host):  # noqa: ARG002 - the seam's
        raise ConnectionResetError


@pytest.mark.parametrize(
    ("tls", "kind", "status"),
    [(Silent(), "timeout", 504), (Reset(), "tls", 502), (None, "tls", 502)],
)
def test_a_server_without_tls_is_not_reached(tls, kind, status):
    async def act(pool, admission, dialer):
        with pytest.raises(UnreachableError) as caught:
            await pool.take(Place("https", "a.example", 443), admission)
        far = await dialer.accept()
        return caught.value.kind, caught.value.status, far.peer.closed

    assert pooling(act, tls) == (kind, status, True)
