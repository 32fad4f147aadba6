"""Requests that come by one connection: read, judged, and carried out, each before the next."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import h11

from orchestrator.egress import targets, websocket
from orchestrator.egress.asked import Asked
from orchestrator.egress.exchange import Exchange
from orchestrator.egress.framed import Framed, read_request
from orchestrator.egress.hops import length_of, overrides_of, paths_of, upgrade_of, values
from orchestrator.egress.line import Line
from orchestrator.egress.live import BY_RULES, Carried
from orchestrator.egress.refusals import Refusal, by_policy, by_rule, failed, malformed
from orchestrator.egress.seams import Admission, Headers
from orchestrator.egress.strict import MessageError
from orchestrator.egress.tunnel import Tunnel
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, Traffic

CONNECT = b"CONNECT"
NO_UPGRADE = "no protocol but websocket can be switched to"
UNREADABLE = targets.Place("http", "(unreadable)", 0)
"""Stands for the place of what could not be read that far."""


@dataclass(frozen=True)
class Conversation:
    """Serves requests until one is refused, or either side is done."""

    line: Line

    async def run(self) -> None:
        """Serve; nothing that follows a refusal on this connection is read as a request."""
        limits = self.line.parts.limits
        going = True
        while going:
            try:
                got = await read_request(
                    self.line.reader, keep_s=limits.keep_s, head_s=limits.head_s
                )
            except MessageError as error:
                await self._refuse_message(error)
                return
            except TimeoutError:
                got = None
            except OSError:
                return
            if got is None:
                # An end in order: what was answered before must not be lost to a reset.
                await self.line.finish()
                return
            going = await self._serve(*got)

    async def _serve(self, request: h11.Request, framed: Framed) -> bool:
        method, headers = request.method.decode("ascii"), framed.headers
        try:
            if request.method == CONNECT:
                return await self._tunnel(request.target.decode("ascii"), framed)
            asked = self._asked(request, framed)
        except targets.PlaceRefusedError as error:
            await self._refuse_place(error, method, headers)
            return False
        except MessageError as error:
            await self._refuse_message(error, request, headers)
            return False
        return await self._carry_out(asked)

    def _asked(self, request: h11.Request, framed: Framed) -> Asked:
        target = request.target.decode("ascii")
        if self.line.place is None:
            place, origin = targets.parse_absolute(target)
        else:
            place, origin = self.line.place, targets.parse_origin(target, self.line.place)
        headers = framed.headers
        host = next((value for name, value in headers if name.lower() == b"host"), None)
        targets.check_host(host, place)
        if values(headers, b"expect") not in ([], [b"100-continue"]):
            raise MessageError("an expectation other than 100-continue", status=417)
        first = framed.event()
        asked = Asked(
            method=request.method.decode("ascii"),
            target=origin,
            place=place,
            headers=headers,
            version=request.http_version,
            framed=framed,
            first=first,
            upgrade=upgrade_of(headers),
        )
        if asked.upgrade == websocket.PROTOCOL:
            websocket.check_request(
                asked.method, headers, version=asked.version, bodiless=not asked.has_body
            )
        return asked

    async def _carry_out(self, asked: Asked) -> bool:
        line = self.line
        request = EgressRequest(
            door=line.door,
            scheme=asked.place.scheme,
            host=asked.place.host,
            port=asked.place.port,
            method=asked.method,
            target=asked.target,
            upgrade=asked.upgrade,
            overrides=overrides_of(asked.headers),
            other_paths=paths_of(asked.headers, asked.target),
            announced=length_of(asked.headers) if asked.has_body else 0,
        )
        admission = await line.parts.gatekeeper.admit(request, line.caller)
        refusal = self._refused(admission, asked)
        if refusal is not None:
            if admission.allowed:
                end = Traffic(problem=NO_UPGRADE, refused=refusal.rule)
                line.parts.gatekeeper.passed(admission, end)
            await line.refuse(refusal, asked.headers, method=asked.method)
            return False
        return await self._exchange(admission, asked)

    def _refused(self, admission: Admission, asked: Asked) -> Refusal | None:
        if not admission.allowed:
            return by_policy(admission.request, admission.verdict.decision)
        if asked.upgrade not in {"", websocket.PROTOCOL}:
            return by_rule("upgrade", NO_UPGRADE)
        return None

    async def _exchange(self, admission: Admission, asked: Asked) -> bool:
        line = self.line
        with line.parts.live.carry(admission, idle_s=line.parts.limits.idle_s) as carried:
            exchange = Exchange(line, asked, carried)
            await exchange.run()
        if exchange.keep:
            return True
        refusal = exchange.refusal or ended(carried)
        if refusal is None:
            await line.finish()
        elif not exchange.begun:
            await line.refuse(refusal, asked.headers, method=asked.method)
        return False

    async def _tunnel(self, target: str, framed: Framed) -> bool:
        line = self.line
        if line.place is not None:
            raise MessageError("there is no proxy at the end of a tunnel", status=405)
        if not isinstance(framed.event(), h11.EndOfMessage):
            raise MessageError("a CONNECT has no body")
        place = targets.parse_connect(target)
        scheme = line.parts.gatekeeper.tunnel_scheme(place.host, place.port)
        tunnel = Tunnel(replace(line, door="connect"), replace(place, scheme=scheme), talk)
        await tunnel.connect(framed.headers)
        return False

    async def _refuse_message(
        self, error: MessageError, asked: h11.Request | None = None, headers: Headers = ()
    ) -> None:
        """Refuse what has no one meaning, and put on record what of it could be read."""
        line = self.line
        method, place = "", line.place
        if asked is not None:
            method = asked.method.decode("ascii")
            with contextlib.suppress(MessageError):
                target = asked.target.decode("ascii")
                place = place or (
                    targets.parse_connect(target)
                    if asked.method == CONNECT
                    else targets.parse_absolute(target)[0]
                )
        if line.parts.recorder is not None:
            place = place or UNREADABLE
            request = EgressRequest(line.door, place.scheme, place.host, place.port, method or None)
            said = Decision("deny", "malformed", "floor", str(error))
            await line.parts.recorder.refused(request, said, line.caller)
        await line.refuse(malformed(error.status, str(error)), headers, method=method)

    async def _refuse_place(
        self, error: targets.PlaceRefusedError, method: str, headers: Headers
    ) -> None:
        """Refuse what names no host; the attempt is judged all the same, for the record."""
        place = error.place
        door = "connect" if method == "CONNECT" else self.line.door
        asked = None if method == "CONNECT" else method
        request = EgressRequest(
            door, place.scheme, place.host, place.port, asked, (asked and "/") or ""
        )
        admission = await self.line.parts.gatekeeper.admit(request, self.line.caller)
        if admission.allowed:
            end = Traffic(problem=str(error), refused=error.rule)
            self.line.parts.gatekeeper.passed(admission, end)
        await self.line.refuse(by_rule(error.rule, str(error)), headers, method=method)


async def talk(line: Line) -> None:
    """Serve the requests of one connection."""
    await Conversation(line).run()


def ended(carried: Carried) -> Refusal | None:
    """Return the answer for what was ended before it was answered; None where it was not."""
    if not carried.scope.cancelled_caught:
        return None
    if carried.problem == BY_RULES:
        return by_rule("reload", carried.problem)
    return failed("timeout", "the server does not answer in time", status=504)
