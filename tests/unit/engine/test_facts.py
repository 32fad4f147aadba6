import os

from orchestrator.engine.facts import parse_info

INFO = {
    "KernelVersion": os.uname().release,
    "OperatingSystem": "Debian GNU/Linux 12 (bookworm)",
    "SecurityOptions": ["name=seccomp,profile=default", "name=apparmor"],
    "CgroupDriver": "systemd",
    "CgroupVersion": "2",
    "MemoryLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "Runtimes": {"runsc": {}, "runc": {}},
    "DefaultRuntime": "runc",
}


def test_answers_become_facts():
    """Names lose their decoration and lists their order."""
    info = parse_info(INFO, {"ApiVersion": "1.41"}, same_machine=True)

    assert info.security_options == ("seccomp", "apparmor")
    assert info.runtimes == ("runc", "runsc")
    assert (info.api_version, info.cgroup_version, info.rootless) == ("1.41", "2", False)


def test_limits_without_a_cgroup_driver_are_not_believed():
    """A rootless engine on cgroup v1 claims limits that it ignores; the claim counts for nothing."""
    claims = INFO | {"CgroupDriver": "none", "SecurityOptions": ["name=rootless"]}

    info = parse_info(claims, {}, same_machine=True)

    assert info.rootless
    assert info.limits == {"memory": False, "pids": False, "cpu": False}


def test_one_missing_limit_is_told_apart():
    """Each limit is its own fact."""
    info = parse_info(INFO | {"PidsLimit": False}, {}, same_machine=True)

    assert info.limits == {"memory": True, "pids": False, "cpu": True}


def test_desktop_engine_is_not_local():
    """Docker Desktop may run under the same kernel and still has other paths."""
    desktop = INFO | {"OperatingSystem": "Docker Desktop"}

    assert parse_info(INFO, {}, same_machine=True).local
    assert not parse_info(desktop, {}, same_machine=True).local


def test_engine_elsewhere_is_not_local():
    """The same kernel release on another machine is another machine."""
    assert not parse_info(INFO, {}, same_machine=False).local


def test_empty_answers_claim_nothing():
    """An engine that says nothing about itself can do nothing."""
    info = parse_info({}, {}, same_machine=True)

    assert not info.local
    assert not any(info.limits.values())
    assert info.security_options == ()


def test_components_carry_the_distributions_revision():
    """Which tells of backports what the number does not."""
    version = {
        "Components": [
            {
                "Name": "runc",
                "Version": "1.1.5+ds1",
                "Details": {"GitCommit": "1.1.5+ds1-1+deb12u1"},
            },
            {"Name": "containerd", "Version": "1.7.1", "Details": {"GitCommit": "1677a17964"}},
        ]
    }

    info = parse_info({}, version, same_machine=False)

    assert info.components == {"runc": "1.1.5+ds1-1+deb12u1", "containerd": "1.7.1"}
    assert info.name == "docker"


def test_podman_is_told_by_its_components():
    """Its runtime's answer is read out of the words around it."""
    version = {
        "Components": [
            {"Name": "Podman Engine", "Version": "4.3.1"},
            {
                "Name": "OCI Runtime (runc)",
                "Version": "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1\n",
            },
        ]
    }

    info = parse_info({}, version, same_machine=False)

    assert info.name == "podman"
    assert info.components["runc"] == "1.1.5+ds1-1"


def test_old_engines_tell_components_as_commits():
    """Where the version says nothing, the description may."""
    info = parse_info({"RuncCommit": {"ID": "v1.1.4-0-g5fd4c4d"}}, {}, same_machine=False)

    assert info.components == {"runc": "v1.1.4-0-g5fd4c4d"}
