"""What a service beside the box is created with."""

import json

import pytest

from orchestrator.sandbox.service_spec import ServiceSpec, service_options
from orchestrator.schema.ids import Digest, SessionId


@pytest.fixture
def options():
    def make(**more):
        return service_options(
            ServiceSpec("db", "postgres:16", 5432, **more),
            image=Digest("sha256:" + "1" * 64),
            session=SessionId("0123456789ab"),
            box="f" * 64,
            owner="1:2:3:4",
            seccomp='{"defaultAction": "SCMP_ACT_ERRNO"}',
        )

    return make


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NetworkMode", "container:" + "f" * 64),
        ("Privileged", False),
        ("CapDrop", ["ALL"]),
        ("IpcMode", "private"),
        ("PidsLimit", 256),
        ("Memory", 2**30),
        ("MemorySwap", 2**30),
    ],
)
def test_hardening_is_asked_for(options, name, value):
    """The box's network, so no other; limits; no way to more rights."""
    assert options()["HostConfig"][name] == value


def test_no_new_rights_and_the_boxs_own_seccomp_profile(options):
    """Setting up data needs a few capabilities; raising more is refused."""
    host = options()["HostConfig"]
    profile = host["SecurityOpt"][1].removeprefix("seccomp=")

    assert host["SecurityOpt"][0] == "no-new-privileges"
    assert json.loads(profile)["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not {"SYS_ADMIN", "NET_ADMIN", "NET_RAW", "SYS_PTRACE", "MKNOD"} & set(host["CapAdd"])
    assert "Binds" not in host
    assert "Mounts" not in host


def test_command_and_variables_are_the_policys(options):
    """Left out, the image's own command runs."""
    assert "Cmd" not in options()
    given = options(command=("serve", "-v"), environment={"A": "1"})
    assert (given["Cmd"], given["Env"]) == (["serve", "-v"], ["A=1"])
