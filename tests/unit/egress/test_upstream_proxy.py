import asyncio
import getpass
import os
import shutil
import socket
import subprocess

import anyio
import pytest

from orchestrator.egress.dialing import (
    UNKNOWN_ADDRESS,
    AddressRefusedError,
    Dialing,
    UpstreamProxyError,
)
from orchestrator.egress.limits import Limits
from orchestrator.egress.no_proxy import NoProxy
from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.egress.targets import Place
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.egress.upstream_proxy import CompanyProxy, ProxyPlace
from tests.support.certificates import ServerAuthority
from tests.support.company_proxy import company_proxy_server
from tests.support.upstream import PUBLIC, upstream

LOGIN = "robot:planted-Proxy+pass=1"
NAME = "a.example"


def company(port, *, no_proxy=(), login=None, context=None, host="127.0.0.1", looks_up=False):
    place = ProxyPlace(host, port, context, login)
    resolver = ScriptedResolver({"proxy.corp": ["127.0.0.1"]})
    return CompanyProxy(place, NoProxy(no_proxy), looks_up=looks_up, resolver=resolver)


async def fetched(stream):
    await stream.send(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
    got = b""
    while piece := await stream.receive():
        got += piece
    await stream.close()
    return got


def through(by, *, places=None, names=(PUBLIC,), host=NAME, private=()):
    """Return a Dialing, and the direct ways it has."""
    resolver, dialer = ScriptedResolver({host: list(names)}), ScriptedDialer(places or {})
    dialing = Dialing(resolver, dialer, Limits(), by=by)

    async def connect():
        return await dialing.connect(Place("http", host, 80), private)

    return connect, resolver, dialer


def test_checked_address_is_what_the_proxy_is_asked_for():
    async def run():
        async with upstream(NAME) as far:
            real = far.ports[PUBLIC, 80]
            async with company_proxy_server({f"{PUBLIC}:80": real}) as proxy:
                connect, resolver, dialer = through(company(proxy.port))
                dialled = await connect()
                page = await fetched(dialled.stream)
                return dialled.address, page, proxy.asked, resolver.asked, dialer.dialled

    address, page, asked, looked_up, direct = anyio.run(run)

    assert address == PUBLIC
    assert page.endswith(b"hello\n")
    assert asked == [f"{PUBLIC}:80"]
    assert looked_up == [NAME]
    assert direct == []


def test_proxy_that_looks_up_gets_the_name_and_nobody_else_does():
    async def run():
        async with upstream(NAME) as far:
            places = {f"{NAME}:80": far.ports[PUBLIC, 80]}
            async with company_proxy_server(places) as proxy:
                connect, resolver, _ = through(company(proxy.port, looks_up=True))
                dialled = await connect()
                return dialled.address, await fetched(dialled.stream), proxy.asked, resolver.asked

    address, page, asked, looked_up = anyio.run(run)

    assert address == UNKNOWN_ADDRESS
    assert page.endswith(b"hello\n")
    assert asked == [f"{NAME}:80"]
    assert looked_up == []


@pytest.mark.parametrize("looks_up", [False, True])
@pytest.mark.parametrize(
    ("host", "address"),
    [("169.254.169.254", ""), ("10.0.0.1", ""), ("metadata.internal", "169.254.169.254")],
)
def test_addresses_and_special_names_are_checked_whoever_looks_up(host, address, looks_up):
    async def run():
        async with company_proxy_server({}) as proxy:
            connect, _, _ = through(
                company(proxy.port, looks_up=looks_up), names=[address], host=host
            )
            with pytest.raises(AddressRefusedError):
                await connect()
            return proxy.connections

    assert anyio.run(run) == 0


@pytest.mark.parametrize(
    ("no_proxy", "address", "private"),
    [
        ((NAME,), PUBLIC, ()),
        (("*.example",), PUBLIC, ()),
        (("203.0.113.0/24",), PUBLIC, ()),
        (("10.0.0.0/8",), "10.1.1.1", ("10.0.0.0/8",)),
        ((), "127.0.0.1", ("127.0.0.0/8",)),
    ],
)
def test_what_needs_no_proxy_is_dialled_straight(no_proxy, address, private):
    """Loopback never goes by it: that would be the proxy's own."""

    async def run():
        async with upstream(NAME) as far, company_proxy_server({}) as proxy:
            connect, _, dialer = through(
                company(proxy.port, no_proxy=no_proxy),
                places={(address, 80): far.ports[PUBLIC, 80]},
                names=[address],
                private=private,
            )
            dialled = await connect()
            return await fetched(dialled.stream), proxy.connections, dialer.dialled

    page, connections, direct = anyio.run(run)

    assert page.endswith(b"hello\n")
    assert connections == 0
    assert direct == [(address, 80)]


def test_each_connection_has_one_of_its_own_with_the_login():
    async def run():
        async with upstream(NAME) as far:
            places = {f"{PUBLIC}:80": far.ports[PUBLIC, 80]}
            async with company_proxy_server(places, login=LOGIN) as proxy:
                connect, _, _ = through(company(proxy.port, login=LOGIN))
                for _ in range(2):
                    assert (await fetched((await connect()).stream)).endswith(b"hello\n")
                return proxy.connections, bytes(proxy.inside)

    connections, inside = anyio.run(run)

    assert connections == 2
    assert b"Authorization" not in inside


def test_tls_to_the_proxy_is_verified_and_the_servers_runs_inside(tmp_path):
    async def run(trusted):
        authority = ServerAuthority()
        outer = authority.server_context(tmp_path, "proxy.corp")
        context = upstream_context(authority.pem if trusted else "")
        async with upstream(NAME) as far:
            places = {f"{PUBLIC}:80": far.ports[PUBLIC, 80]}
            async with company_proxy_server(places, tls=outer, login=LOGIN) as proxy:
                by = company(proxy.port, host="proxy.corp", context=context, login=LOGIN)
                connect, _, _ = through(by)
                try:
                    return await fetched((await connect()).stream), proxy.asked
                except UpstreamProxyError as error:
                    return error.text, proxy.asked

    assert anyio.run(run, True)[0].endswith(b"hello\n")
    text, asked = anyio.run(run, False)
    assert "certificate" in text
    assert "proxy.corp" not in text
    assert asked == []


@pytest.mark.parametrize(
    ("answer", "said", "tries"),
    [
        (b"HTTP/1.1 407 Auth\r\nContent-Length: 6\r\n\r\nsecret", "407", 1),
        (b"HTTP/1.1 403 secret\r\nX: secret\r\n\r\n", "status 403", 1),
        (b"HTTP/1.1 302 Found\r\nLocation: http://secret/\r\n\r\n", "status 302", 1),
        (b"HTTP/1.1 503 secret\r\n\r\n", "status 503", 2),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret", "no one meaning", 1),
        (b"secret\r\n\r\n", "no one meaning", 1),
    ],
)
def test_refusal_tells_its_status_and_nothing_that_was_said(answer, said, tries):
    """A refusal for good is not asked for again by another address of the same name."""

    async def run():
        async with company_proxy_server({}, answer=answer) as proxy:
            connect, _, _ = through(company(proxy.port), names=[PUBLIC, "203.0.113.8"])
            with pytest.raises(UpstreamProxyError) as caught:
                await connect()
            return caught.value, proxy.connections

    error, connections = anyio.run(run)

    assert said in error.text
    assert "secret" not in error.text.replace("upstream_proxy.secret", "")
    assert (error.kind, error.status) == ("upstream-proxy", 502)
    assert connections == tries


def test_password_that_was_refused_is_not_sent_again_at_once():
    """A program in the box could lock the account by asking on."""

    async def run():
        async with company_proxy_server({}, login=LOGIN) as proxy:
            connect, _, _ = through(company(proxy.port, login="robot:wrong-password"))
            texts = []

            async def try_it():
                with pytest.raises(UpstreamProxyError) as caught:
                    await connect()
                texts.append(caught.value.text)

            async with anyio.create_task_group() as together:
                for _ in range(5):
                    together.start_soon(try_it)
            await try_it()
            return texts, proxy.connections

    texts, connections = anyio.run(run)

    assert len(texts) == 6
    assert all("407" in text for text in texts)
    assert connections == 1


def test_proxy_that_is_gone_is_told():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        connect, _, _ = through(company(closed.getsockname()[1]))
        with pytest.raises(UpstreamProxyError, match="cannot be reached"):
            anyio.run(connect)


def test_login_is_in_no_representation():
    assert "planted" not in repr(ProxyPlace("p", 1, None, LOGIN))


@pytest.mark.skipif(shutil.which("tinyproxy") is None, reason="tinyproxy is not installed")
@pytest.mark.parametrize("right", [True, False])
def test_another_makers_proxy_is_understood(tmp_path, right):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # It takes letters and digits only.
    user, password = "robot", "plantedpassword1"
    (tmp_path / "tinyproxy.conf").write_text(
        f"User {getpass.getuser()}\nPort {port}\nListen 127.0.0.1\nTimeout 20\n"
        f"BasicAuth {user} {password}\n"
    )
    command = ["tinyproxy", "-d", "-c", str(tmp_path / "tinyproxy.conf")]
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ))

    async def run():
        async with upstream(NAME) as far:
            real = far.ports[PUBLIC, 80]
            while process.poll() is None:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await anyio.sleep(0.05)
            by = company(port, login=f"{user}:{password if right else 'wrong'}")
            return await fetched(await by.dial("127.0.0.1", real))

    try:
        if right:
            assert anyio.run(run).endswith(b"hello\n")
        else:
            with pytest.raises(UpstreamProxyError, match=r"40[17]"):
                anyio.run(run)
    finally:
        process.terminate()
        process.wait()
        log.close()
