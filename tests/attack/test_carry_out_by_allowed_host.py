"""An allowed host is used to carry out what the box read, by every part of a request."""

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from tests.support.certificates import ServerAuthority
from tests.support.outing import allow
from tests.support.trapped import sent, trapped

pytestmark = pytest.mark.docker
HOST = "api.acme.example"
LOOT = "LOOT0of0the0workspace0" * 8
SECRET = "planted0credential0of0the0owner"
MINE = "ghp_" + "0thieves0own0token0of0another0account"[:36]


async def take(head, reader, writer):
    """Keep all that comes, and answer."""
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            BODIES.append(await reader.read(int(line.partition(b":")[2])))
        if line.lower().startswith(b"transfer-encoding:"):
            BODIES.append(await reader.readuntil(b"0\r\n\r\n"))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    await writer.drain()


BODIES: list[bytes] = []


def word(name, line="GET /v1/item", body="", **headers):
    """Return a request in TLS."""
    more = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in headers.items())
    if body and "Transfer_Encoding" not in headers:
        more += f"Content-Length: {len(body)}\r\n"
    if "Connection" not in headers:
        more += "Connection: close\r\n"
    send = f"{line} HTTP/1.1\r\nHost: {HOST}\r\n{more}\r\n{body}"
    return {"name": name, "connect": f"{HOST}:443", "sni": HOST, "send": send}


REFUSED = [
    word("post", "POST /v1/item", LOOT),
    word("put", "PUT /v1/item", LOOT),
    word("patch", "PATCH /v1/item", LOOT),
    word("trace", "TRACE /v1/item", X_Loot=LOOT),
    word("odd-method", "LOOT /v1/item", LOOT),
    word("method-in-a-header", "GET /v1/item", LOOT, X_HTTP_Method_Override="POST"),
    word("get-with-a-body", "GET /v1/item", LOOT),
    word(
        "get-in-chunks", "GET /v1/item", f"{len(LOOT):x}\r\n{LOOT}\r\n0\r\n\r\n",
        Transfer_Encoding="chunked",
    ),
    word("path", f"GET /{LOOT}"),
    word("own-token", Authorization=f"Bearer {MINE}"),
    word("own-basic", Authorization="Basic bWluZTptaW5lbWluZW1pbmU="),
    word("own-key", X_Api_Key="mine"),
    word("own-cookie", Cookie=f"session={LOOT}"),
    word("token-in-a-query", f"GET /v1/item?access_token={MINE}"),
    word("token-in-a-header", X_Anything=MINE),
    word("socket", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
         Sec_WebSocket_Version="13"),
]  # fmt: skip
GOOD = [word("good", "GET /v1/item?id=1"), word("note", "POST /v1/notes", "a short note")]


@pytest.fixture
def forge(tmp_path, monkeypatch):
    monkeypatch.setenv("FORGE_KEY", SECRET)
    BODIES.clear()
    authority = ServerAuthority()
    extra = tmp_path / "company.pem"
    extra.write_text(authority.pem)
    settings = Settings(egress=EgressSettings(extra_ca=extra))
    return authority.server_context(tmp_path, HOST), settings


def rules():
    inject = {"secret": "env:FORGE_KEY", "header": "Authorization", "format": "Bearer {secret}"}
    read = {"methods": ["GET"], "paths": ["/v1/**"], "inject": inject, "max_upload": "1B"}
    note = {"methods": ["POST"], "paths": ["/v1/notes"], "inject": inject, "max_upload": "64B"}
    return [allow(HOST, **read), allow(HOST, **note) | {"id": "note"}]


def run(outing, forge, body, words):
    tls, settings = forge

    async def scene():
        async with trapped(HOST, answer=take, tls=tls) as outside:
            policy = outing.policy(default="deny", **body)
            return await sent(outing, policy, words, outside, settings=settings), outside

    return anyio.run(scene)


def test_narrow_rule_carries_nothing_but_what_it_says(outing, forge):
    """Methods, bodies, paths, other people's credentials: the server hears none of the loot."""
    answers, outside = run(outing, forge, {"rules": rules()}, [*GOOD, *REFUSED])

    heard = b"".join([*outside.far.heads, *BODIES])
    assert (answers.pop("good"), answers.pop("note")) == (["200"], ["200"])
    assert b"a short note" in heard
    assert not [name for name, codes in answers.items() if "200" in codes], answers
    assert len(outside.far.heads) == 2
    assert LOOT[:22].encode() not in heard
    assert MINE.encode() not in heard
    assert {head.lower().count(b"authorization:") for head in outside.far.heads} == {1}
    assert heard.count(f"Bearer {SECRET}".encode()) == 2


def test_sum_of_a_session_bounds_what_addresses_and_headers_carry(outing, forge):
    """Small requests by the hundred, each with a piece in its query or a header."""
    words = [word(f"query-{at}", f"GET /v1/item?part={at}x{LOOT}") for at in range(60)]
    words += [word(f"header-{at}", X_Part=f"{at}x{LOOT}") for at in range(60)]
    answers, outside = run(
        outing, forge, {"rules": [allow(HOST, methods=["GET"])], "max_upload": "8KiB"}, words
    )

    heard = sum(map(len, outside.far.heads)) + sum(map(len, BODIES))
    assert ["200"] in answers.values()
    assert len([codes for codes in answers.values() if codes == ["200"]]) < 40
    assert LOOT.encode() in b"".join(outside.far.heads)
    assert heard <= 8192


def test_same_words_arrive_where_a_rule_lets_all_pass(outing, forge):
    """The server would have heard each of them."""
    known = {
        "post",
        "put",
        "patch",
        "get-with-a-body",
        "path",
        "own-token",
        "own-key",
        "own-cookie",
    }
    words = [one for one in REFUSED if one["name"] in known]
    answers, outside = run(outing, forge, {"rules": [allow(HOST, inspect=True)]}, words)

    assert answers == {one["name"]: ["200"] for one in words}
    assert b"".join([*outside.far.heads, *BODIES]).count(LOOT.encode()) == 6
    assert MINE.encode() in b"".join(outside.far.heads)
