import socket

import anyio
import pytest

from orchestrator.config.settings import EgressSettings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.credentials.store import KeyStore
from orchestrator.credentials.vault import Vault
from orchestrator.errors import ConfigError
from orchestrator.harness.egress.company_proxy import (
    company_proxy,
    proxy_fact,
    proxy_trouble,
    unused_variable,
)
from orchestrator.redaction.redactor import Redactor

PASSWORD = "planted-Proxy+pass=1"


def settings(**more):
    given = UpstreamProxySettings(url="http://proxy.corp:3128", **more)
    return EgressSettings(upstream_proxy=given)


@pytest.fixture
def keys(tmp_path):
    environ = {"CORP": f"robot:{PASSWORD}", "BARE": "no-user-here", "LINES": "robot:pass\r\nX: y"}
    vault = Vault(tmp_path / "vault", lambda *, new: "right horse")  # noqa: ARG005
    return KeyStore(environ=environ, find_keyring=lambda: None, vault=vault)


def made(keys, given, learned=None):
    learned = {} if learned is None else learned

    async def run():
        return await company_proxy(given, keys, learn=learned.update)

    return anyio.run(run)


def test_without_the_setting_there_is_none(keys):
    assert made(keys, EgressSettings()) is None


def test_setting_says_what_goes_by_it(keys):
    proxy = made(keys, settings(no_proxy=("git.example",), resolve="there"))

    assert proxy is not None
    assert proxy.looks_up("a.example")
    assert not proxy.looks_up("git.example")
    assert not proxy.looks_up("printer")
    assert proxy.carries("a.example", "203.0.113.7")
    assert not proxy.carries("git.example", "203.0.113.7")


def test_names_are_looked_up_here_unless_it_is_written_otherwise(keys):
    proxy = made(keys, settings())

    assert proxy is not None
    assert not proxy.looks_up("a.example")


def test_password_is_kept_out_of_every_text_alone_and_as_it_is_sent(keys):
    learned = {}
    made(keys, settings(secret="env:CORP"), learned)
    redactor = Redactor(learned)
    sent = "Basic cm9ib3Q6cGxhbnRlZC1Qcm94eStwYXNzPTE="

    assert PASSWORD not in redactor.redact(f"it is {PASSWORD} here")
    assert "cGxhbnRlZC1Qcm94" not in redactor.redact(f"Proxy-Authorization: {sent}")


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        ("env:NONE", "set the variable NONE"),
        ("env:BARE", "user:password in one line"),
        ("env:LINES", "user:password in one line"),
    ],
)
def test_login_that_is_none_stops_the_session(keys, secret, message):
    with pytest.raises(ConfigError, match=message) as caught:
        made(keys, settings(secret=secret))

    assert "no-user-here" not in caught.value.message + caught.value.hint
    assert caught.value.message.startswith("egress.upstream_proxy.secret: ")
    assert caught.value.hint


def test_posture_says_who_checks_addresses():
    assert proxy_fact(EgressSettings()) == ""
    assert proxy_fact(settings()) == (
        "http://proxy.corp:3128, names looked up and checked on the host"
    )
    assert "addresses not checked here" in proxy_fact(settings(resolve="there"))


def test_proxy_is_tried_by_connecting_to_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert proxy_trouble(UpstreamProxySettings(url=f"http://127.0.0.1:{port}")) == ""
    trouble = proxy_trouble(UpstreamProxySettings(url=f"http://127.0.0.1:{port}"))

    assert trouble.startswith(f"egress.upstream_proxy: http://127.0.0.1:{port} cannot be reached")


def test_variable_that_boxes_do_not_follow_is_named():
    environ = {"HTTPS_PROXY": "http://user:pass@proxy.corp:3128"}

    assert unused_variable(EgressSettings(), environ) == "HTTPS_PROXY"
    assert unused_variable(EgressSettings(), {}) == ""
    assert unused_variable(settings(), environ) == ""
