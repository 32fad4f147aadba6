"""Programs as they are, in a real box: by the proxy or ignoring it, read by the proxy or not."""

import asyncio
import base64
import hashlib

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from tests.support.certificates import ServerAuthority
from tests.support.outing import allow
from tests.support.upstream import upstream

pytestmark = pytest.mark.docker
HOST = "api.acme.example"
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

NODE = """
const https = require('https');
https.get('https://api.acme.example/node', r => {
  let s = ''; r.on('data', d => s += d); r.on('end', () => console.log(r.statusCode, s));
}).on('error', e => console.log(e.code || e.message));
"""
PYTHON = """
import http.client, sys
c = http.client.HTTPSConnection('api.acme.example')
c.request(sys.argv[1], '/python')
r = c.getresponse()
print(r.status, r.reason, r.read().decode())
"""
SOCKET = """
import base64, os, socket, ssl
raw = socket.create_connection(('api.acme.example', 443))
tls = ssl.create_default_context().wrap_socket(raw, server_hostname='api.acme.example')
key = base64.b64encode(os.urandom(16)).decode()
tls.sendall((f'GET /socket HTTP/1.1\\r\\nHost: api.acme.example\\r\\nUpgrade: websocket\\r\\n'
    f'Connection: Upgrade\\r\\nSec-WebSocket-Key: {key}\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n').encode())
head = b''
while b'\\r\\n\\r\\n' not in head:
    got = tls.recv(4096)
    if not got: break
    head += got
print(head.split(b'\\r\\n')[0].decode())
if b' 101 ' in head:
    tls.sendall(b'\\x81\\x85\\0\\0\\0\\0hello')
    print(tls.recv(4096)[2:].decode())
"""


def secured(tmp_path, **more):
    """Return an upstream by TLS, and settings of a host that trusts its authority."""
    authority = ServerAuthority()
    extra = tmp_path / "company.pem"
    extra.write_text(authority.pem)
    tls = authority.server_context(tmp_path, HOST)
    far = upstream(HOST, ports=(443,), tls=tls, **more)
    return far, Settings(egress=EgressSettings(extra_ca=extra)), authority


def test_clients_are_read_where_a_rule_names_methods(outing, tmp_path):
    """curl and pip's kin by the proxy, Node and http.client by the names they look up."""
    far, settings, _ = secured(tmp_path)

    async def run():
        async with far as server:
            rule = allow(HOST, methods=["GET"], paths=["/**"])
            (outing.project / "get.js").write_text(NODE)
            (outing.project / "get.py").write_text(PYTHON)
            return await outing.run(
                outing.policy(default="deny", rules=[rule]),
                "curl -sS https://api.acme.example/curl?token=abc",
                "node get.js",
                "env -u NODE_USE_ENV_PROXY -u https_proxy -u HTTPS_PROXY node get.js",
                "python3 get.py GET",
                "python3 get.py POST",
                net=server.net,
                settings=settings,
            ), server.asked

    (curl, node, bare, python, post), asked = anyio.run(run)

    assert "hello" in curl
    assert "200 hello" in node
    assert "200 hello" in bare
    assert "200 OK hello" in python
    assert "403 Refused by policy" in post
    assert asked == [
        "GET /curl?token=abc HTTP/1.1",
        "GET /node HTTP/1.1",
        "GET /node HTTP/1.1",
        "GET /python HTTP/1.1",
    ]
    doors = {body["door"] for body in outing.records("egress")}
    assert {"connect", "transparent", "inspected"} <= doors


def test_connection_that_nobody_reads_keeps_its_own_certificate(outing, tmp_path):
    """The client sees the server's own authority, and the record the name and the bytes."""
    far, settings, authority = secured(tmp_path)

    async def run():
        async with far as server:
            (outing.project / "ca.pem").write_text(authority.pem)
            return await outing.run(
                outing.policy(default="deny", rules=[allow(HOST)]),
                "curl -sS --cacert ca.pem https://api.acme.example/a; "
                "curl -sS https://api.acme.example/b 2>&1 | head -1",
                net=server.net,
                settings=settings,
            ), server.asked

    (output,), asked = anyio.run(run)

    assert "hello" in output
    assert "certificate" in output
    assert asked == ["GET /a HTTP/1.1"]
    tunnels = outing.records("egress")
    assert [(body["method"], body["host"]) for body in tunnels] == [(None, HOST)] * 2
    assert outing.records("egress_end")[0]["bytes_down"] > 100


def test_refused_https_tells_why_inside(outing, tmp_path):
    """A client that ignores the proxy reads the reason, not a broken connection."""
    far, settings, _ = secured(tmp_path)

    async def run():
        async with far as server:
            (outing.project / "get.py").write_text(PYTHON.replace("api.acme", "evil.acme"))
            return await outing.run(
                outing.policy(default="deny", rules=[allow(HOST)]),
                "curl -sS https://evil.acme.example/ 2>&1",
                "python3 get.py GET 2>&1 | tail -1",
                net=server.net,
                settings=settings,
            ), server.asked

    (curl, python), asked = anyio.run(run)

    assert "403" in curl
    assert asked == []
    assert "evil.acme.example" in {body["host"] for body in outing.records("egress")}
    assert "Refused by policy" in python or "Name or service not known" in python


async def echo(head, reader, writer):
    """Answer a WebSocket's beginning, and send back the first short text."""
    key = next(
        line for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")
    )
    digest = hashlib.sha1(key.partition(b":")[2].strip() + GUID).digest()
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
    )
    await writer.drain()
    start = await reader.readexactly(6)
    text = await reader.readexactly(start[1] & 0x7F)
    mask = start[2:6]
    plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(text))
    writer.write(bytes([0x81, len(plain)]) + plain)
    await writer.drain()
    await asyncio.sleep(0.2)


@pytest.mark.parametrize(("websocket", "status"), [(True, "101"), (False, "403")])
def test_websocket_by_a_rule_that_lets_one(outing, tmp_path, *, websocket, status):
    far, settings, _ = secured(tmp_path, answer=echo)

    async def run():
        async with far as server:
            (outing.project / "socket.py").write_text(SOCKET)
            rule = allow(HOST, paths=["/**"], **({"websocket": True} if websocket else {}))
            return await outing.run(
                outing.policy(default="deny", rules=[rule]),
                "mv socket.py talk.py; python3 talk.py",
                net=server.net,
                settings=settings,
            )

    (output,) = anyio.run(run)

    assert status in output.split("\n")[0]
    assert ("hello" in output) is websocket
