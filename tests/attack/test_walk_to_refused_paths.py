"""Paths that a rule reads in one way and a server in another, from a box to such servers."""

import posixpath
from urllib.parse import unquote

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from tests.support.certificates import ServerAuthority
from tests.support.outing import allow
from tests.support.trapped import sent, trapped

pytestmark = pytest.mark.docker
HOST = "api.acme.example"
WALKS = [
    "/admin/keys", "/public/../admin/keys", "/public/%2e%2e/admin/keys", "/public/%2E./admin/keys",
    "/public/.%2e/admin/keys", "/public/%252e%252e/admin/keys", "/public/%25252e%25252e/admin/keys",
    "/public/..%2fadmin/keys", "/public%2f..%2fadmin%2fkeys", "/public/..%252fadmin/keys",
    "/public/..\\admin\\keys", "/public/..%5cadmin%5ckeys", "/public/..%255cadmin/keys",
    "/public/..;/admin/keys", "/public/..;x=1/admin/keys", "/public/..%3b/admin/keys",
    "/public/;/../admin/keys", "//admin/keys", "/public//../admin/keys", "/public/./../admin/keys",
    "/public/x/../../admin/keys", "/./admin/keys", "/%61dmin/keys", "/%2561dmin/keys",
    "/public/..%00/admin/keys", "/public/%c0%ae%c0%ae/admin/keys", "/public/%e0%80%ae./admin/keys",
    "/public/%uff0e%uff0e/admin/keys", "/public/%2e%2e%2fadmin%2fkeys", "/public/..%c0%afadmin/keys",
    "/public/\u2024\u2024/admin/keys", "/public/\uff0e\uff0e/admin/keys", "/public/%2", "/public/%zz/x",
    "/public/..%09/admin/keys", "/public/.%0a./admin/keys", "/ADMIN/keys", "/Public/../admin/keys",
    "\\admin\\keys", "/public/..#/admin/keys", "/public/..", "/public/..;",
]  # fmt: skip
FINE = ["/public/page", "/public/@scope%2fname", "/public/a/../b", "/public/page?to=/../admin/keys"]


def readings(target):
    """Return where servers, each with habits of its own, take a target to lead."""
    path = target.partition("?")[0].partition("#")[0]
    found = set()
    for _ in range(4):
        for text in (path, path.replace("\\", "/")):
            cut = "/".join(part.partition(";")[0] for part in text.split("/"))
            for one in (text, cut, text.replace("\0", ""), text.partition("\0")[0]):
                found.add(posixpath.normpath("/" + one.lstrip("/")).lower())
        path = unquote(path, "latin-1")
    return found


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_way_of_writing_leads_out_of_the_allowed_paths(outing, tmp_path, scheme):
    """Dots, escapes, doubled ones, backslashes, parameters: no server could take one for /admin."""
    authority = ServerAuthority()
    extra = tmp_path / "company.pem"
    extra.write_text(authority.pem)
    settings = Settings(egress=EgressSettings(extra_ca=extra))
    tried = [word(scheme, f"walk-{at}", path) for at, path in enumerate(WALKS)]
    tried += [word(scheme, f"fine-{at}", path) for at, path in enumerate(FINE)]

    async def run():
        async with trapped(HOST, tls=authority.server_context(tmp_path, HOST)) as outside:
            rule = allow(HOST, schemes=[scheme], methods=["GET"], paths=["/public/**"])
            policy = outing.policy(default="deny", rules=[rule])
            return await sent(outing, policy, tried, outside, settings=settings), outside

    answers, outside = anyio.run(run)

    reached = [head.split(b" ")[1].decode("latin-1") for head in outside.far.heads]
    assert sorted(reached) == sorted(FINE)
    assert not [path for path in reached if any(at.startswith("/admin") for at in readings(path))]
    walked = {codes[0] for name, codes in answers.items() if name.startswith("walk")}
    assert walked <= {"400", "403"}, answers
    assert all(answers[f"fine-{at}"] == ["200"] for at in range(len(FINE)))
    assert outside.caught == []


def test_servers_that_would_be_reached_are_told_apart():
    """The readings see through each walk that some server follows, and through none that is fine."""
    seen = [path for path in WALKS if any(at.startswith("/admin") for at in readings(path))]

    assert len(seen) > 20
    assert not [path for path in FINE if any(at.startswith("/admin") for at in readings(path))]


def word(scheme, name, path):
    """Return a request for a path, as bytes that no client has tidied."""
    raw = path.encode("utf-8").decode("latin-1")
    rest = f"HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
    if scheme == "http":
        return {"name": name, "send": f"GET http://{HOST}{raw} {rest}"}
    return {"name": name, "connect": f"{HOST}:443", "sni": HOST, "send": f"GET {raw} {rest}"}
