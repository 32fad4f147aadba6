import json
from dataclasses import replace

import pytest

from orchestrator.sandbox.preparer_spec import PreparerSpec, preparer_options
from orchestrator.schema.ids import Digest, SessionId

SPEC = PreparerSpec(SessionId("abc"), Digest("sha256:1"), "me", '{"defaultAction": "x"}')


@pytest.fixture
def host():
    return preparer_options(SPEC)["HostConfig"]


def test_steps_have_no_network_but_a_boxs_own(host):
    """Never a bridge: without a box there is none at all."""
    beside = preparer_options(replace(SPEC, box="f00"))["HostConfig"]

    assert host["NetworkMode"] == "none"
    assert beside["NetworkMode"] == "container:f00"


def test_steps_have_what_package_managers_need_and_no_more(host):
    """Nothing of it can be gained back, and the box's filter holds."""
    assert host["CapDrop"] == ["ALL"]
    assert set(host["CapAdd"]) == {
        "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
    }  # fmt: skip
    assert host["SecurityOpt"] == ["no-new-privileges", 'seccomp={"defaultAction":"x"}']
    assert not host["Privileged"]
    assert host["Devices"] == []


def test_steps_keep_to_the_boxs_limits(host):
    """Memory without swap, processes, processors."""
    assert (host["Memory"], host["MemorySwap"]) == (SPEC.memory, SPEC.memory)
    assert (host["PidsLimit"], host["NanoCpus"]) == (512, 2_000_000_000)


def test_it_ends_with_the_hosts_end_of_its_input():
    """And the engine removes it by itself."""
    options = preparer_options(SPEC)

    assert options["OpenStdin"]
    assert options["StdinOnce"]
    assert options["HostConfig"]["AutoRemove"]


def test_a_runtime_and_a_profile_by_path_are_passed_on():
    """Podman takes a file; gVisor is another runtime."""
    options = preparer_options(replace(SPEC, runtime="runsc", seccomp="/p.json"))["HostConfig"]

    assert options["Runtime"] == "runsc"
    assert options["SecurityOpt"][1] == "seccomp=/p.json"
    assert json.loads(json.dumps(options)) == options
