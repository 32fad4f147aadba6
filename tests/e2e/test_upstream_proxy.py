"""A real box behind a company's proxy: everything leaves by it, and nothing of its login comes in."""

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.harness.egress.net import Net
from tests.support.certificates import ServerAuthority
from tests.support.company_proxy import company_proxy_server
from tests.support.outing import allow
from tests.support.upstream import PUBLIC, upstream

pytestmark = pytest.mark.docker
PLAIN, READ, TUNNEL = "plain.acme.example", "read.acme.example", "tunnel.acme.example"
LOGIN = "robot:planted-Proxy+pass=1"
RULES = [
    allow(PLAIN, schemes=["http"]) | {"id": "plain"},
    allow(READ, methods=["GET"]) | {"id": "read"},
    allow(TUNNEL, inspect=False) | {"id": "tunnel"},
]


def behind(outing, folder, *commands, resolve="here", proxy_login=LOGIN):
    """Run commands in a box that is behind a company's proxy; return outputs and the proxy."""
    authority = ServerAuthority()
    (folder / "company.pem").write_text(authority.pem)
    (outing.project / "company.pem").write_text(authority.pem)
    tls = authority.server_context(folder, READ, TUNNEL)

    async def run():
        async with upstream() as web, upstream(ports=(443,), tls=tls) as secure:
            http, https = web.ports[PUBLIC, 80], secure.ports[PUBLIC, 443]
            if resolve == "here":
                names = {name: [PUBLIC] for name in (PLAIN, READ, TUNNEL)}
                places = {f"{PUBLIC}:80": http, f"{PUBLIC}:443": https}
            else:
                names = {}
                places = {f"{PLAIN}:80": http, f"{READ}:443": https, f"{TUNNEL}:443": https}
            async with company_proxy_server(places, login=proxy_login) as proxy:
                given = UpstreamProxySettings(
                    url=f"http://127.0.0.1:{proxy.port}", secret="env:CORP_PROXY", resolve=resolve
                )
                settings = Settings(
                    egress=EgressSettings(extra_ca=folder / "company.pem", upstream_proxy=given)
                )
                outputs = await outing.run(
                    outing.policy(default="deny", rules=RULES),
                    *commands,
                    # Straight, there is no way to anywhere.
                    net=Net(ScriptedResolver(names), ScriptedDialer({})),
                    settings=settings,
                )
                return outputs, proxy, web.asked + secure.asked

    return anyio.run(run)


@pytest.mark.parametrize("resolve", ["here", "there"])
def test_all_that_leaves_goes_by_the_proxy(outing, tmp_path, monkeypatch, resolve):
    monkeypatch.setenv("CORP_PROXY", LOGIN)
    outputs, proxy, asked = behind(
        outing,
        tmp_path,
        f"curl -sS http://{PLAIN}/a",
        f"curl -sS https://{READ}/b",
        f"curl -sS --cacert company.pem https://{TUNNEL}/c",
        "curl -sS https://other.acme.example/d 2>&1",
        "env | grep -c -e planted -e cm9ib3Q6; grep -rl planted-Proxy ~ /etc /tmp 2>/dev/null | wc -l",
        resolve=resolve,
    )

    assert all("hello" in output for output in outputs[:3]), outputs
    assert "403" in outputs[3]
    assert outputs[4].split()[:2] == ["0", "0"]
    assert set(asked) == {
        "GET /a HTTP/1.1",
        "GET /b HTTP/1.1",
        "GET /c HTTP/1.1",
    }
    named = {
        "here": [f"{PUBLIC}:80", f"{PUBLIC}:443", f"{PUBLIC}:443"],
        "there": [f"{PLAIN}:80", f"{READ}:443", f"{TUNNEL}:443"],
    }
    assert proxy.asked == named[resolve]
    assert b"Proxy-Authorization" not in proxy.inside
    addresses = {body["address"] for body in outing.records("egress_end")} - {""}
    expected = PUBLIC if resolve == "here" else "looked up by the upstream proxy"
    assert addresses == {expected}
    for file in outing.paths.state.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert b"planted-Proxy+pass" not in data, file
            assert b"cGxhbnRlZC1Qcm94" not in data, file


def test_refusal_of_the_proxy_is_told_with_the_next_step(outing, tmp_path, monkeypatch):
    """The password is sent once, and what the proxy says of it stays outside."""
    monkeypatch.setenv("CORP_PROXY", "robot:another-Password")
    outputs, proxy, asked = behind(
        outing,
        tmp_path,
        f"curl -sSi http://{PLAIN}/a",
        f"curl -sSi https://{READ}/b",
    )

    for output in outputs:
        assert "502 Bad Gateway" in output
        assert "x-glovebox-error: upstream-proxy" in output
        assert "(407)" in output
        assert "glovebox keys set" in output
        assert "realm" not in output
    assert proxy.connections == 1
    assert asked == []
