import socket

import pytest
import yaml

from orchestrator.config.paths import Paths
from orchestrator.harness.egress.doctor_way import look_at_way_out

RULE = {"id": "docs", "hosts": ["docs.acme.example"], "effect": "allow"}


@pytest.fixture
def looked(tmp_path):
    def look(*, network=None, **settings):
        config = tmp_path / "config"
        config.mkdir()
        policy = tmp_path / "p.yaml"
        section = {"network": network} if network else {}
        policy.write_text(yaml.safe_dump({"version": 1, "name": "p", **section}))
        body = {"policy": [str(policy)], **settings}
        (config / "config.yaml").write_text(yaml.safe_dump(body))
        return look_at_way_out(Paths(tmp_path / "state", config), {})

    return look


def test_policy_without_network_lets_nothing_out(looked):
    assert looked().found == "policy p: nothing leaves the box"


def test_rules_and_packages_are_told(looked):
    found = looked(network={"rules": [RULE, RULE | {"id": "x", "effect": "deny"}]}).found

    assert found == "policy p: 1 network rules"


def test_packages_are_told(looked):
    assert "packages of pip" in looked(network={"packages": ["pip"]}).found


def test_authorities_that_cannot_be_read_are_a_failure(looked, tmp_path):
    facts = looked(network={"rules": [RULE]}, egress={"extra_ca": str(tmp_path / "none.pem")})

    assert "extra_ca" in facts.failure
    assert facts.hint


def test_settings_that_are_none_are_a_failure(looked):
    assert "egress" in looked(egress={"extra": 1}).failure


def test_proxy_of_the_company_is_told_and_tried(looked):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        found = looked(network={"rules": [RULE]}, egress={"upstream_proxy": {"url": url}}).found

    assert f"by the proxy {url}, names looked up and checked on the host" in found


def test_proxy_that_does_not_answer_is_a_failure(looked):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        facts = looked(network={"rules": [RULE]}, egress={"upstream_proxy": {"url": url}})

    assert "cannot be reached" in facts.failure
    assert "egress.upstream_proxy" in facts.hint
