import pytest

from orchestrator.config.settings import load_settings
from orchestrator.config.upstream_proxy import UpstreamProxySettings
from orchestrator.errors import ConfigError


def loaded(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(f"egress:\n  upstream_proxy: {text}\n")
    return load_settings(file, {}).egress.upstream_proxy


def test_proxy_is_read_from_the_file(tmp_path):
    found = loaded(
        tmp_path,
        "{url: 'https://Proxy.corp:8443/', secret: corp, resolve: there,"
        " no_proxy: [git.corp, '*.Corp.example', 10.0.0.0/8, '192.0.2.1', 'fd00::/8']}",
    )

    assert found.url == "https://proxy.corp:8443"
    assert (found.host, found.port, found.secured) == ("proxy.corp", 8443, True)
    assert found.secret == "corp"
    assert found.resolve == "there"
    assert found.no_proxy == (
        "git.corp",
        "*.corp.example",
        "10.0.0.0/8",
        "192.0.2.1/32",
        "fd00::/8",
    )


def test_addresses_may_be_looked_up_elsewhere_only_when_that_is_written():
    found = UpstreamProxySettings(url="http://[2001:db8::1]:3128")

    assert (found.host, found.resolve, found.secured) == ("2001:db8::1", "here", False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{url: 'http://u:hunter22@p.corp:3128'}", "keys set"),
        ("{url: 'http://u@p.corp:3128'}", "keys set"),
        ("{url: 'http://p.corp'}", "http://HOST:PORT"),
        ("{url: 'http://p.corp:0'}", "http://HOST:PORT"),
        ("{url: 'http://p.corp:99999'}", "http://HOST:PORT"),
        ("{url: 'socks5://p.corp:1080'}", "http://HOST:PORT"),
        ("{url: 'http://p.corp:3128/x'}", "after the port"),
        ("{url: 'http://*.corp:3128'}", "host name in ASCII"),
        ("{url: 'http://pröxy.corp:3128'}", "host name in ASCII"),
        ("{url: 'http://p.corp:3128', no_proxy: [.corp]}", r"'\*\.corp'"),
        ("{url: 'http://p.corp:3128', no_proxy: [10.0.0.1/8]}", "range such as"),
        ("{url: 'http://p.corp:3128', no_proxy: ['a b']}", "expected a name"),
        ("{url: 'http://p.corp:3128', resolve: both}", "here"),
        ("{url: 'http://p.corp:3128', sekret: x}", "no such setting"),
    ],
)
def test_mistakes_are_named_and_no_password_repeated(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        loaded(tmp_path, text)

    assert "egress.upstream_proxy" in caught.value.message
    assert "hunter22" not in caught.value.message + caught.value.hint
