from orchestrator.sandbox.way_environment import LOCAL, way_environment
from orchestrator.schema.way_out import WayOut


def test_both_spellings_lead_to_the_proxy():
    """Clients differ in which they look at; none goes there for a server in the box."""
    found = way_environment(WayOut("", proxy_port=4000), {})

    for name in ("http_proxy", "https_proxy", "all_proxy"):
        assert found[name] == found[name.upper()] == "http://127.0.0.1:4000"
    assert found["no_proxy"] == found["NO_PROXY"] == LOCAL


def test_session_s_own_come_after_and_the_user_s_stay():
    """What a person wrote on the command line is what they get."""
    way = WayOut("", environment={"HTTP_PROXY": "session", "TOKEN": "gbx_1", "MODE": "session"})

    found = way_environment(way, {"MODE": "mine"})

    assert (found["HTTP_PROXY"], found["TOKEN"]) == ("session", "gbx_1")
    assert "MODE" not in found
