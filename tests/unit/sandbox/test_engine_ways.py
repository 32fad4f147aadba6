import resource
from dataclasses import replace

import pytest

from orchestrator.engine.facts import parse_info
from orchestrator.errors import EngineError
from orchestrator.sandbox.container_spec import MASKED, Ground, container_options
from orchestrator.sandbox.engine_ways import adapted, makes_network, seccomp_option
from tests.support.boxes import small_spec

DOCKER = parse_info({}, {}, same_machine=False)
PODMAN = replace(DOCKER, name="podman", local=True)
OPTIONS = container_options(small_spec("image"), Ground("1:2:3:4", "/profile.json", None))


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "seccomp.json"
    path.write_text("{}")
    return path


def test_docker_gets_the_options_as_they_are(profile):
    """And the profile's text, wherever it runs."""
    assert adapted(OPTIONS, DOCKER) == OPTIONS
    assert seccomp_option(DOCKER, profile) == "{}"


def test_podman_gets_the_profile_as_a_file(profile):
    """It would take the text for a path."""
    assert seccomp_option(PODMAN, profile) == str(profile)
    assert "seccomp=/profile.json" in OPTIONS["HostConfig"]["SecurityOpt"]


def test_podman_elsewhere_is_refused(profile):
    """Without the profile there would be a box that merely looks the same."""
    with pytest.raises(EngineError, match="only as a file"):
        seccomp_option(replace(PODMAN, local=False), profile)


def test_podman_is_asked_in_its_own_way():
    """Masks by option, no owner of scratch, closed extras, limits that it can set."""
    host = adapted(OPTIONS, PODMAN)["HostConfig"]

    [mask] = [word for word in host["SecurityOpt"] if word.startswith("mask=")]
    assert mask.removeprefix("mask=").split(":") == list(MASKED)
    assert not any("uid=" in text for text in host["Tmpfs"].values())
    assert host["Tmpfs"]["/run"].startswith("ro,")
    most = {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]}
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert most["nofile"] <= hard or hard == resource.RLIM_INFINITY


def test_nothing_else_changes_for_podman():
    """Every other hardening stays as it was."""
    host = adapted(OPTIONS, PODMAN)["HostConfig"]
    changed = {"Tmpfs", "SecurityOpt", "Ulimits"}

    assert {k: v for k, v in host.items() if k not in changed} == {
        k: v for k, v in OPTIONS["HostConfig"].items() if k not in changed
    }
    assert set(OPTIONS["HostConfig"]["SecurityOpt"]) < set(host["SecurityOpt"])


@pytest.mark.parametrize(
    ("engine", "runtime", "makes"),
    [(DOCKER, "runc", True), (DOCKER, "runsc", False), (PODMAN, "runc", False)],
)
def test_only_runc_below_docker_is_trusted_with_the_network(engine, runtime, makes):
    """gVisor's would lack the loopback, and Podman makes its own whatever it is told."""
    assert makes_network(engine, runtime) is makes
