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
