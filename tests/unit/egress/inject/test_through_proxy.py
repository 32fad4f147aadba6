"""Credentials through the real proxy, by curl, to a server that gives back what it was sent."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from orchestrator.egress.inject.aws_keys import AwsKeys
from orchestrator.egress.inject.head import RequestHead
from orchestrator.egress.inject.injector import MAX_SIGNED_BODY
from orchestrator.egress.inject.sigv4 import Scope, authorization, parse_authorization
from orchestrator.egress.sockets import AddressDialer
from orchestrator.egress.tls.stream import TlsStream
from orchestrator.egress.tls.upstream import upstream_context
from tests.support.echo_server import EchoServer, echo_server
from tests.support.inspected import ADDRESS, Inspected, Said

HOST = "api.example.com"
KEY = "live/Key+0123456789=="
URL = f"https://{HOST}"
RULES = f"""
    - {{id: keyed, hosts: {HOST}, paths: /v1/**, effect: allow,
       inject: {{secret: api, header: X-Api-Key, variables: API_KEY}}}}
    - {{id: bare, hosts: {HOST}, paths: /open/**, effect: allow}}
    - {{id: socket, hosts: {HOST}, paths: /ws/**, websocket: true, effect: allow,
       inject: {{secret: api, header: X-Api-Key}}}}
    - {{id: signed, hosts: {HOST}, paths: /aws/**, effect: allow,
       inject: {{secret: aws, sigv4: eu-west-1/things}}}}
    - {{id: storage, hosts: {HOST}, paths: /bucket1/**, effect: allow,
       inject: {{secret: aws, sigv4: eu-west-1/s3}}}}
"""
AWS = {"id": "AKIA2222333344445555", "key": "r" * 40}


@contextmanager
def world(folder: Path, **when: int) -> Iterator[tuple[EchoServer, Inspected]]:
    proxy = Inspected(folder, HOST, RULES, api=KEY, aws=f"{AWS['id']}:{AWS['key']}")
    with echo_server(proxy.server_context(**when)) as server:
        yield server, proxy


def curl(server: EchoServer, proxy: Inspected, *words: str) -> Said:
    assert shutil.which("curl")
    return proxy.run(server.port, "curl", "-sS", "-i", *words)


def body_of(said: Said) -> bytes:
    return said.out.rpartition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("given", [(), ("-H", "X-Api-Key: PLACEHOLDER"), ("-u", "PLACEHOLDER:")])
def test_server_gets_the_secret_and_the_client_its_placeholder(tmp_path, given):
    """Whether the client sent the placeholder, in whatever place, or nothing."""
    with world(tmp_path) as (server, proxy):
        placeholder = proxy.book.credential("api").placeholder
        words = [word.replace("PLACEHOLDER", placeholder) for word in given]
        said = curl(server, proxy, *words, f"{URL}/v1/plain")

    assert server.asked[0][2]["x-api-key"] == KEY
    assert "authorization" not in server.asked[0][2]
    assert body_of(said) == f"you sent {placeholder}, {placeholder}.\n".encode()
    assert f"X-Echo: {placeholder}".lower() in said.out.decode().lower()


def looked_through(data: bytes) -> bool:
    """Whether no half of the secret is there either, plain or coded as the server does it."""
    text = data.decode("latin-1")
    return KEY[:8] not in text and KEY[-10:-2] not in text and KEY.encode().hex()[:16] not in text


@pytest.mark.parametrize("way", ["plain", "json", "redirect", "chunked", "gzip", "close", "error"])
@pytest.mark.parametrize(
    "words", [(), ("--http1.0",), ("--compressed",), ("-X", "POST", "-d", "x")]
)
def test_nothing_of_the_secret_comes_back(tmp_path, way, words):
    """In no form, in no part of an answer, however it is framed."""
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, *words, f"{URL}/v1/{way}?x=1")

    assert said.code == 0, said.err
    assert server.asked[0][2]["x-api-key"] == KEY
    assert looked_through(said.out)
    assert b"gbx_" in said.out


def test_answer_that_was_cut_is_not_passed_for_whole(tmp_path):
    """A server that is gone without a word was perhaps cut off by somebody between."""
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, f"{URL}/v1/cut")

    assert said.code == 18
    assert looked_through(said.out)


def test_head_has_no_body_and_a_clean_head(tmp_path):
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, "-I", f"{URL}/v1/plain")

    assert said.code == 0, said.err
    assert looked_through(said.out)


def test_json_stays_json(tmp_path):
    """What comes in a secret's place fits where it stood."""
    with world(tmp_path) as (server, proxy):
        placeholder = proxy.book.credential("api").placeholder
        forms = json.loads(body_of(curl(server, proxy, f"{URL}/v1/json")))["forms"]

    assert forms[0] == placeholder
    assert forms[2] == placeholder.encode().hex()
    assert len(forms[1]) == len(forms[0]) * 4 / 3


def test_answer_that_cannot_be_read_is_not_passed_on(tmp_path):
    """An encoding that nobody asked for is a failure of the server."""
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, f"{URL}/v1/br")

    assert b"HTTP/1.1 502" in said.out
    assert b"x-glovebox-error" in said.out
    assert b"'br'" in said.out
    assert looked_through(said.out)


@pytest.mark.parametrize("path", ["v1", "open"])
def test_secret_does_not_come_out_in_pieces(tmp_path, path):
    """A piece too small to be known again is not to be had; the whole is, clean."""
    with world(tmp_path) as (server, proxy):
        first = [f"{URL}/v1/plain", "--next", "-sS", "-i"]
        whole = curl(server, proxy, *first, "-r", "2-9", f"{URL}/{path}/range")
        pieces = curl(server, proxy, *first, "-H", "X-Part: 1", f"{URL}/{path}/range")
        placeholder = proxy.book.credential("api").placeholder

    assert whole.out.endswith(f"<{placeholder}>".encode())
    assert all("range" not in headers for _, _, headers in server.asked)
    assert b"HTTP/1.1 502" in pieces.out
    assert KEY.encode()[2:7] not in whole.out + pieces.out


def test_later_answer_without_a_credential_is_clean_too(tmp_path):
    """The server remembers the key of another request."""
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, f"{URL}/v1/plain", "--next", "-sS", f"{URL}/open/plain")

    assert "x-api-key" not in server.asked[1][2]
    assert server.asked[1][1] == "/open/plain"
    assert looked_through(said.out)
    assert said.out.endswith(b".\n")


def test_placeholder_outside_its_rule_is_refused_with_the_reason(tmp_path):
    """Not passed on to a server that would answer with a riddle."""
    with world(tmp_path) as (server, proxy):
        placeholder = proxy.book.credential("api").placeholder
        said = curl(server, proxy, "-H", f"X-Api-Key: {placeholder}", f"{URL}/open/plain")

    assert b"HTTP/1.1 403" in said.out
    assert b"the placeholder of the secret api" in said.out
    assert server.asked == []


def test_request_that_was_not_keyed_sends_none(tmp_path):
    """The path is a part of what a credential is bound to."""
    with world(tmp_path) as (server, proxy):
        curl(server, proxy, f"{URL}/open/plain")

    assert "x-api-key" not in server.asked[0][2]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("-H", "X-Api-Key: foreign"), "header X-Api-Key"),
        (("-H", "Authorization: Bearer foreign"), "header Authorization"),
        (("-u", "me:foreign"), "header Authorization"),
        (("-b", "sid=foreign"), "cookie 'sid'"),
        (("-G", "-d", "api_key=foreign"), "parameter api_key"),
    ],
)
def test_foreign_credential_goes_nowhere(tmp_path, words, where):
    """The server is not even asked, and the client is told what it brought."""
    with world(tmp_path) as (server, proxy):
        said = curl(server, proxy, *words, f"{URL}/v1/plain")

    assert said.out.split(b"\r\n\r\n")[1].startswith(b"HTTP/1.1 403")
    assert b"brings a credential that is not this session's" in said.out
    assert where.encode() in said.out
    assert server.asked == []


def test_cookie_of_the_server_goes_back(tmp_path):
    """Within the session that it was set in."""
    with world(tmp_path) as (server, proxy):
        jar = str(proxy.home / "jar")
        said = curl(
            server,
            proxy,
            "-c",
            jar,
            f"{URL}/v1/redirect",
            "--next",
            "-sS",
            "-b",
            jar,
            f"{URL}/v1/plain",
        )

    assert said.code == 0
    assert server.asked[1][2]["cookie"].startswith("session=gbx_")


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ({"from_days": -9, "days": -2}, b"has expired"),
        ({"from_days": 2, "days": 9}, b"is not valid yet"),
    ],
)
def test_server_that_cannot_prove_its_name_gets_nothing(tmp_path, when, problem):
    """Neither request nor secret; the client is told which problem it is."""
    with world(tmp_path, **when) as (server, proxy):
        said = curl(server, proxy, f"{URL}/v1/plain")

    assert b"HTTP/1.1 502" in said.out
    assert b"x-glovebox-error: certificate: it " + problem in said.out
    assert server.asked == []


def test_websocket_gets_the_secret_and_a_clean_answer(tmp_path):
    """Cut over two frames, as a server that streams may do."""
    with world(tmp_path) as (server, proxy):

        async def scene() -> bytes:
            async with proxy.proxied(server.port) as port:
                stream = await AddressDialer().dial("127.0.0.1", port)
                await stream.send(
                    f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n".encode()
                )
                assert (await stream.receive()).startswith(b"HTTP/1.1 200")
                tls = TlsStream(stream, upstream_context(proxy.ca.read_text()), HOST)
                await tls.start()
                await tls.send(
                    f"GET /ws/socket HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade\r\n"
                    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
                    "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n".encode()
                )
                got = b""
                while b"\x88\x02" not in got:
                    piece = await tls.receive()
                    if not piece:
                        break
                    got += piece
                await tls.close()
                return got

        got = anyio.run(scene)
        placeholder = proxy.book.credential("api").placeholder.encode()

    half = len(placeholder) // 2
    head, _, frames = got.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101")
    assert looked_through(got)
    assert b"x-echo: " + placeholder.lower() in head.lower()
    assert frames == (
        bytes([0x01, half])
        + placeholder[:half]
        + bytes([0x80, len(placeholder) - half])
        + placeholder[half:]
        + b"\x88\x02\x03\xe8"
    )
    assert server.asked[0][2]["x-api-key"] == KEY
    assert "sec-websocket-extensions" not in server.asked[0][2]


def test_signed_request_goes_out_with_real_keys(tmp_path):
    """curl signs with what the box has, and the server sees what the host has."""
    with world(tmp_path) as (server, proxy):
        box = proxy.book.aws("aws").box
        curl(
            server,
            proxy,
            *("--aws-sigv4", "aws:amz:eu-west-1:things", "--user", f"{box.id}:{box.key}"),
            *("-d", '{"a": 1}', f"{URL}/aws/plain"),
        )
    signed = parse_authorization(server.asked[0][2]["authorization"])

    assert signed is not None
    assert signed.identity == AWS["id"]
    assert box.id not in repr(server.asked)


STORE = f"""
import io, botocore.session
from botocore.config import Config
config = Config(s3={{"addressing_style": "path"}}, retries={{"max_attempts": 1}})
client = botocore.session.get_session().create_client(
    "s3", region_name="eu-west-1", endpoint_url="{URL}", config=config)
client.put_object(Bucket="bucket1", Key="store", Body=io.BytesIO(b"some data"))
print(client.get_object(Bucket="bucket1", Key="store", Range="bytes=0-99")["Body"].read().decode())
"""


def test_real_client_of_a_store_works_with_placeholder_keys(tmp_path):
    """It uploads and downloads as usual; the server checks the signature with the real key."""
    with world(tmp_path) as (server, proxy):
        said = proxy.run(
            server.port, sys.executable, "-c", STORE, env={"AWS_CA_BUNDLE": str(proxy.ca)}
        )

    assert said.code == 0, said.err
    assert said.out == b"what was stored\n"
    assert b"some data" in server.bodies[0]
    assert [method for method, _, _ in server.asked] == ["PUT", "GET"]
    for method, target, headers in server.asked:
        signed = parse_authorization(headers["authorization"])
        assert signed is not None
        pairs = tuple((name.encode(), value.encode()) for name, value in headers.items())
        scope = Scope(headers["x-amz-date"], "eu-west-1", "s3")
        expected = authorization(
            RequestHead(method, target, pairs),
            AwsKeys(AWS["id"], AWS["key"]),
            scope,
            signed=signed.headers,
            content=headers["x-amz-content-sha256"],
        )
        assert headers["authorization"] == expected


def test_body_too_large_to_sign_is_refused(tmp_path):
    """Nothing goes out half."""
    with world(tmp_path) as (server, proxy):
        large = proxy.home / "large"
        large.write_bytes(bytes(MAX_SIGNED_BODY + 1))
        said = curl(server, proxy, "-X", "POST", "-T", str(large), f"{URL}/aws/plain")

    assert b"HTTP/1.1 413" in said.out
    assert server.asked == []


def test_address_that_a_rule_names_has_no_name_to_agree_on(tmp_path):
    """Its certificate is for the address, on both sides."""
    rule = f"    - {{id: bare, hosts: {ADDRESS}, paths: /v1/**, effect: allow}}\n"
    proxy = Inspected(tmp_path, ADDRESS, rule)
    with echo_server(proxy.server_context()) as server:
        said = curl(server, proxy, f"https://{ADDRESS}/v1/store")

    assert said.code == 0, said.err
    assert said.out.endswith(b"what was stored")
