import subprocess

import pytest

from orchestrator.egress.packages.client import Page
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.schema.packages import ECOSYSTEMS


def test_every_ecosystem_that_policy_can_name_has_a_client():
    """A name in a policy is never without meaning."""
    assert set(CLIENTS) == set(ECOSYSTEMS)


@pytest.mark.parametrize("ecosystem", ECOSYSTEMS)
def test_a_missing_client_is_told_apart_by_the_shell(ecosystem, tmp_path):
    """127 where the box has no such client, whatever the shell is."""
    done = subprocess.run(
        ["/bin/sh", "-c", CLIENTS[ecosystem].command],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 127


def test_clients_whose_settings_name_all_places_read_no_page():
    """apt, go and maven check what they fetch by themselves."""
    page = Page("https://a.example/", "text/html", b"<a href='https://b.example/x'>")

    for name in ("apt", "go", "maven"):
        assert not CLIENTS[name].is_index("/", "text/html")
        assert CLIENTS[name].announced(page).links == ()
