"""The host's end of the model port: requests of programs in the box, answered by providers.

The order holds for each request: key, policy, rate, body, model, price, budget, record, and only
then the way out. Whatever fails on it is an answer in the API's own form, and no call.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import anyio

from orchestrator.egress.endpoint.accounting import counted
from orchestrator.egress.endpoint.budget import BoxBudget, Hold
from orchestrator.egress.endpoint.caller_key import is_callers, presented_keys
from orchestrator.egress.endpoint.choice import ALLOW, choose
from orchestrator.egress.endpoint.clients import Clients
from orchestrator.egress.endpoint.connection import ClientConnection, ClientGoneError, Head, Intake
from orchestrator.egress.endpoint.echo import Echoes, scrub_text
from orchestrator.egress.endpoint.headers import passed_query, request_headers
from orchestrator.egress.endpoint.listing import list_models
from orchestrator.egress.endpoint.model_call import CallDesk, CallOutcome, ModelCall
from orchestrator.egress.endpoint.prepare import Prepared, prepare
from orchestrator.egress.endpoint.refused import (
    RefusedCallError,
    refusal_body,
    refusal_headers,
)
from orchestrator.egress.endpoint.relay import Order, Relayed, relay
from orchestrator.egress.endpoint.routes import Miss, Route, find_route
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.egress.seams import ByteStream
from orchestrator.errors import BoxError, GloveboxError
from orchestrator.policy.box_models import BoxModels
from orchestrator.schema.egress import Caller
from orchestrator.schema.ids import digest_of

JSON = [("content-type", "application/json")]
ENDED = "the session ended"
UPGRADE = RefusedCallError(426, "no WebSocket here: POST the request instead")


@dataclass(frozen=True, slots=True)
class _Request:
    head: Head
    route: Route
    body: bytes
    call: ModelCall
    terms: BoxModels
    started: float = field(default_factory=time.monotonic)


class ModelEndpoint:
    """Serves the connections of one session's box; one event loop uses it."""

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        *,
        terms: Callable[[], BoxModels],
        echoes: Echoes,
        budget: BoxBudget,
        desk: CallDesk,
        clients: Clients,
    ) -> None:
        """``echoes`` knows every upstream's key, and the placeholder that clients present."""
        self._upstreams = tuple(upstreams)
        self._terms = terms
        self._echoes = echoes
        self._budget = budget
        self._desk = desk
        self._clients = clients
        self._intake = Intake()
        self._calls = 0

    async def serve(self, stream: ByteStream, caller: Caller | None) -> None:
        """Answer one connection's requests until it is over, and close it."""
        connection = ClientConnection(stream)
        try:
            while await self._next(connection, caller):
                pass
            await stream.send(b"", last=True)
        except (ClientGoneError, OSError, BoxError):
            # Without an end in order the client sees that what it has is a part.
            pass
        finally:
            with anyio.CancelScope(shield=True), suppress(OSError, BoxError):
                await stream.close()

    async def _next(self, connection: ClientConnection, caller: Caller | None) -> bool:
        intake = Intake(within=self._intake)
        route: Route | Miss = Miss("openai", 400, "")
        call = ModelCall(0, "", "", 0, None, caller)
        try:
            head = await connection.next_head()
            if head is None:
                return False
            route = find_route(head.method, head.path, dict(head.headers))
            body = await connection.body(intake)
            call = self._named(head, body, caller)
            await self._answer(connection, _Request(head, _found(route), body, call, self._terms()))
        except RefusedCallError as refused:
            await self._refuse(connection, refused, route, call)
        finally:
            intake.release()
        return True

    def _named(self, head: Head, body: bytes, caller: Caller | None) -> ModelCall:
        self._calls += 1
        digest = digest_of(body) if body else None
        return ModelCall(self._calls, head.method, head.path, len(body), digest, caller)

    async def _answer(self, connection: ClientConnection, request: _Request) -> None:
        head, route = request.head, request.route
        if route.kind == "hello":
            await connection.answer(200, [], b"")
            return
        if route.kind == "upgrade":
            # No refusal to tell of: clients try it first, and go on with a request.
            await self._say(connection, UPGRADE, route)
            return
        if not is_callers(presented_keys(head.headers, head.query), self._echoes.placeholder):
            raise RefusedCallError(
                401,
                "the key is not this session's: use the one in ANTHROPIC_API_KEY, OPENAI_API_KEY "
                "or GEMINI_API_KEY of the box; no other key belongs in here",
                rule="session-key",
            )
        if request.terms.in_box != "allow":
            raise RefusedCallError(
                403, "policy lets no program in the box ask a model", rule="models.in_box"
            )
        self._budget.admit()
        if route.kind == "list":
            await self._list(connection, request)
        elif route.kind == "show":
            await self._show(connection, request)
        else:
            await self._generate(connection, request)

    async def _list(self, connection: ClientConnection, request: _Request) -> None:
        names = ", ".join(u.name for u in self._upstreams if u.serves(request.route))
        call = replace(request.call, provider=names, rule=ALLOW)
        await self._begin(call)
        outcome = CallOutcome(None, problem="no list")
        try:
            page = await list_models(
                request.head.headers,
                request.route,
                self._upstreams,
                terms=request.terms,
                clients=self._clients,
            )
            raw = scrub_text(json.dumps(page), self._echoes).encode()
            outcome = CallOutcome(200, bytes_down=len(raw))
        except RefusedCallError as refused:
            refused.recorded = True
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._desk.end(call, outcome)
        await connection.answer(200, JSON, raw)

    async def _show(self, connection: ClientConnection, request: _Request) -> None:
        route = request.route
        chosen = choose(route.model, route, self._upstreams, terms=request.terms)
        call = replace(
            request.call,
            asked=route.model,
            provider=chosen.upstream.name,
            model=chosen.model,
            rule=chosen.rule,
        )
        await self._begin(call)
        order = await self._order(request, chosen.upstream, b"", model=chosen.model)
        await self._relayed(connection, order, call, request, prepared=None, hold=None)

    async def _generate(self, connection: ClientConnection, request: _Request) -> None:
        ready = prepare(request.body, request.route, self._upstreams, terms=request.terms)
        chosen = ready.chosen
        order = await self._order(request, chosen.upstream, ready.content, model=chosen.model)
        hold = None
        if request.route.kind != "count":
            hold = await self._budget.reserve(ready.amount)
        call = replace(
            request.call,
            asked=chosen.asked,
            provider=chosen.upstream.name,
            model=chosen.model,
            rule=chosen.rule,
            changes=ready.changes,
        )
        try:
            await self._begin(call)
        except BaseException:
            if hold is not None:
                with anyio.CancelScope(shield=True):
                    await self._budget.settle(hold, *counted(Relayed(), ready).settled)
            raise
        order = replace(order, streams=ready.streams)
        await self._relayed(connection, order, call, request, prepared=ready, hold=hold)

    async def _relayed(
        self,
        connection: ClientConnection,
        order: Order,
        call: ModelCall,
        request: _Request,
        *,
        prepared: Prepared | None,
        hold: Hold | None,
    ) -> None:
        """Make the call; settle and record it however it ends."""
        done = Relayed(problem=ENDED)
        try:
            await relay(order, self._clients.of(order.upstream), connection, done=done)
        finally:
            with anyio.CancelScope(shield=True):
                count = counted(done, prepared)
                if hold is not None:
                    await self._budget.settle(hold, *count.settled)
                await self._desk.end(call, _outcome(done, order, count.outcome, request.started))
        if done.refused is not None:
            done.refused.recorded = True
            raise done.refused
        if not done.complete:
            raise ClientGoneError

    async def _order(
        self, request: _Request, upstream: Upstream, content: bytes, *, model: str
    ) -> Order:
        head, route = request.head, request.route
        if upstream.open is not None:
            upstream = await upstream.open()
        key = upstream.key.reveal() if upstream.key else None
        query = passed_query(head.query, route.shape)
        return Order(
            upstream=upstream,
            shape=route.shape,
            method=head.method,
            url=upstream.url(route, query, model=model),
            headers=request_headers(head.headers, route, key=key, configured=upstream.headers),
            content=content,
            echoes=self._echoes,
        )

    async def _begin(self, call: ModelCall) -> None:
        """Record what leaves; without a record nothing does."""
        try:
            await self._desk.begin(call)
        except (GloveboxError, OSError) as error:
            refused = RefusedCallError(
                403, "the call cannot be recorded, so it is not made", rule="audit"
            )
            refused.recorded = True
            raise refused from error

    async def _refuse(
        self,
        connection: ClientConnection,
        refused: RefusedCallError,
        route: Route | Miss,
        call: ModelCall,
    ) -> None:
        if call.number and not refused.recorded:
            denied = replace(
                call,
                effect="deny",
                rule=refused.rule,
                reason=refused.message,
                asked=refused.asked or call.asked,
            )
            # It is refused either way; only a yes needs its record first.
            with suppress(GloveboxError, OSError):
                await self._desk.begin(denied)
        if connection.answered:
            raise ClientGoneError
        await self._say(connection, refused, route)

    async def _say(
        self, connection: ClientConnection, refused: RefusedCallError, route: Route | Miss
    ) -> None:
        await connection.answer(
            refused.status, refusal_headers(refused), refusal_body(refused, route.shape)
        )


def _found(route: Route | Miss) -> Route:
    if isinstance(route, Miss):
        raise RefusedCallError(route.status, route.message, rule="no-such-call")
    return route


def _outcome(done: Relayed, order: Order, counts: CallOutcome, started: float) -> CallOutcome:
    return replace(
        counts,
        status=done.status,
        bytes_up=len(order.content),
        bytes_down=done.meter.bytes if done.meter else 0,
        duration_ms=round((time.monotonic() - started) * 1000, 1),
        problem=done.problem,
    )
