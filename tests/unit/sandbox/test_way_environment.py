from orchestrator.engine.trust_files import BUNDLE, JAVA_STORE
from orchestrator.sandbox.way_environment import LOCAL, way_environment
from orchestrator.schema.way_out import WayOut


def test_both_spellings_lead_to_the_proxy():
    """Clients differ in which they look at; none goes there for a server in the box."""
    found = way_environment(WayOut("", proxy_port=4000), {})

    for name in ("http_proxy", "https_proxy", "all_proxy"):
        assert found[name] == found[name.upper()] == "http://127.0.0.1:4000"
    assert found["no_proxy"] == found["NO_PROXY"] == LOCAL


def test_clients_with_lists_of_their_own_trust_the_box_s():
    """One bundle for all, and Java's in its own form."""
    found = way_environment(WayOut(""), {})

    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"):
        assert found[name] == BUNDLE
    assert JAVA_STORE in found["JAVA_TOOL_OPTIONS"]


def test_session_s_own_come_after_and_the_user_s_stay():
    """What a person wrote on the command line is what they get."""
    way = WayOut("", environment={"HTTP_PROXY": "session", "TOKEN": "gbx_1", "MODE": "session"})

    found = way_environment(way, {"MODE": "mine"})

    assert (found["HTTP_PROXY"], found["TOKEN"]) == ("session", "gbx_1")
    assert "MODE" not in found
