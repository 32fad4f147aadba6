import pytest

from orchestrator.sandbox.container_spec import MASKED, writable_places
from orchestrator.sandbox.posture import posture_of
from orchestrator.sandbox.results import Findings
from tests.support.boxes import LIMITS, small_spec

SPEC = small_spec("image")
STATUS = {
    "CapInh": "0" * 16,
    "CapPrm": "0" * 16,
    "CapEff": "0" * 16,
    "CapBnd": "00000000000000e0",
    "CapAmb": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "Uid": "1000\t1000\t1000\t1000",
    "Gid": "1000\t1000\t1000\t1000",
}
REFUSED = dict.fromkeys(
    (
        *("vsock", "raw_socket", "packet_socket", "crypto_socket", "user_namespace", "mount"),
        *("ptrace", "keyctl", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup"),
        *("root", "server"),
    ),
    True,
)
MOUNTS = [
    {"target": target, "kind": kind, "options": options, "propagation": ""}
    for target, kind, options in (
        ("/", "overlay", "ro,relatime"),
        ("/proc", "proc", "rw,nosuid"),
        ("/proc/bus", "proc", "ro"),
        ("/proc/fs", "proc", "ro"),
        ("/proc/irq", "proc", "ro"),
        ("/proc/sys", "proc", "ro"),
        ("/sys", "sysfs", "ro"),
        ("/sys/fs/cgroup", "tmpfs", "rw"),
        ("/sys/fs/cgroup/pids", "cgroup", "ro"),
        ("/workspace", "tmpfs", "rw"),
    )
]
NAMES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
GVISOR = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"
GOOD = {
    "status": STATUS,
    "kernel": "6.6",
    "interfaces": ["lo"],
    "routes": 0,
    "root_options": "ro,relatime",
    "root_writes": [],
    "pids_limit": LIMITS.pids,
    "memory_limit": LIMITS.memory,
    "cpu_limit": LIMITS.cpus,
    "limit_writes": [],
    "disk_limit": LIMITS.disk,
    "disk_places": list(writable_places(SPEC)),
    "file_size_limit": LIMITS.file_size,
    "mounts": MOUNTS,
    "namespaces": {name: f"{name}:[{4026532000 + n}]" for n, name in enumerate(NAMES)},
    "devices": ["/dev/null", "/dev/tty"],
    "shown": {**dict.fromkeys(MASKED, "hidden"), "/proc/sysrq-trigger": "absent"},
    "version": "Linux version 6.6 (host)",
    "exec_record": "",
    "refused": REFUSED,
}
TOLD = {"engine": "24", "host_kernel": "6.6", "known_flaws": "", "host_namespaces": "net:[1]"}


def controls(**changes):
    return posture_of(Findings(**{**GOOD, **changes}), SPEC, TOLD).controls


def status(**changes):
    return {"status": {**STATUS, **changes}}


def mounted(target, options="ro", propagation=""):
    one = {"target": target, "kind": "ext4", "options": options, "propagation": propagation}
    return {"mounts": [*MOUNTS, one]}


def refused(name):
    return {"refused": {**REFUSED, name: False}}


def test_everything_found_means_everything_holds():
    """The baseline of the cases below; the kernel alone is the host's."""
    assert [name for name, holds in controls().items() if not holds] == ["gvisor"]


@pytest.mark.parametrize(
    ("missing", "changes"),
    [
        ("seccomp", status(Seccomp="0")),
        ("seccomp", {"status": {k: v for k, v in STATUS.items() if k != "Seccomp"}}),
        ("seccomp", refused("vsock")),
        ("seccomp", refused("raw_socket")),
        ("seccomp", refused("user_namespace")),
        ("seccomp", {"refused": {"root": True, "server": True}}),
        ("server_out_of_reach", refused("server")),
        ("exec_record", {"exec_record": "Function not implemented"}),
        ("no_new_privileges", status(NoNewPrivs="0")),
        ("no_network", {"interfaces": ["eth0", "lo"]}),
        ("no_network", {"interfaces": []}),
        ("no_network", {"routes": 1}),
        ("non_root", status(Uid="0\t0\t0\t0")),
        ("non_root", status(Uid="1000\t1000\t0\t1000")),
        ("non_root", status(Gid="1000\t1000\t1000\t0")),
        ("non_root", status(Uid="1001\t1001\t1001\t1001")),
        ("non_root", refused("root")),
        ("no_capabilities", status(CapEff="0000000000000080")),
        ("no_capabilities", status(CapAmb="0000000000000001")),
        ("no_capabilities", status(CapPrm="")),
        ("pids_limit", {"pids_limit": None}),
        ("pids_limit", {"pids_limit": LIMITS.pids + 1}),
        ("pids_limit", {"pids_limit": 0}),
        ("memory_limit", {"memory_limit": None}),
        ("memory_limit", {"memory_limit": LIMITS.memory + 4096}),
        ("read_only_root", {"root_options": "rw,relatime"}),
        ("read_only_root", {"root_options": ""}),
        ("read_only_root", {"root_writes": ["/etc/x"]}),
        ("cpu_limit", {"cpu_limit": None}),
        ("cpu_limit", {"cpu_limit": LIMITS.cpus + 1}),
        ("seccomp", refused("io_uring_setup")),
        ("seccomp", refused("crypto_socket")),
        ("no_devices", {"devices": ["/dev/kvm", "/dev/null"]}),
        ("disk_watch", {"disk_places": ["/workspace"]}),
        ("disk_watch", {"disk_limit": LIMITS.disk + 1}),
        ("disk_watch", {"file_size_limit": None}),
        ("expected_mounts", mounted("/var/run/docker.sock")),
        ("expected_mounts", mounted("/data")),
        ("expected_mounts", mounted("/workspace", propagation="shared:7")),
        ("expected_mounts", mounted("/etc/hosts", options="rw")),
    ],
)
def test_control_that_was_not_seen_does_not_hold(missing, changes):
    """Engines drop options silently, so only what was found inside counts."""
    found = controls(**changes)

    assert found[missing] is False
    assert {name for name, holds in found.items() if not holds} == {missing, "gvisor"}


def test_facts_are_kept_for_the_record():
    """What the engine told and what was found stand side by side."""
    posture = posture_of(Findings(**GOOD), SPEC, {"engine": "24"})

    assert posture.facts["engine"] == "24"
    assert posture.facts["uid"] == "1000"
    assert posture.facts["pids_limit"] == str(LIMITS.pids)


SPACES = GOOD["namespaces"]


@pytest.mark.parametrize(
    ("missing", "changes", "said"),
    [
        ("masked_paths", {"shown": {}}, "not looked at"),
        ("masked_paths", {"shown": {**GOOD["shown"], "/proc/keys": "shown"}}, "/proc/keys"),
        ("masked_paths", {"mounts": [m for m in MOUNTS if "bus" not in m["target"]]}, "/proc/bus"),
        ("private_namespaces", {"namespaces": {**SPACES, "pid": "pid:[4026531836]"}}, "pid"),
        ("private_namespaces", {"namespaces": {**SPACES, "net": "net:[1]"}}, "net"),
        ("private_namespaces", {"namespaces": {}}, "cgroup"),
    ],
)
def test_under_the_hosts_kernel_its_facts_must_be_hidden(missing, changes, said):
    """Where gVisor answers, there is nothing of the host to hide; elsewhere there is."""
    plain = posture_of(Findings(**GOOD), SPEC, TOLD)
    assert set(plain.found) == {"gvisor"}

    posture = posture_of(Findings(**{**GOOD, **changes}), SPEC, TOLD)

    assert set(posture.found) == {"gvisor", missing}
    assert said in posture.found[missing]


@pytest.mark.parametrize(
    ("told", "holds"),
    [({"known_flaws": ""}, True), ({"known_flaws": "runc X"}, False), ({}, False)],
)
def test_versions_nobody_judged_are_no_pass(told, holds):
    """An engine that does not tell its versions may have any flaw."""
    posture = posture_of(Findings(**GOOD), SPEC, {"host_kernel": "6.6", **told})

    assert posture.controls["runtime_not_known_bad"] is holds


def test_host_namespaces_stay_out_of_the_record():
    """They serve the comparison alone."""
    facts = posture_of(Findings(**GOOD), SPEC, TOLD).facts

    assert "host_namespaces" not in facts
    assert facts["kernel_of"] == "host"


OWN_KERNEL = {
    "kernel": "4.4.0",
    "version": GVISOR,
    "status": {name: value for name, value in STATUS.items() if name != "CapAmb"},
    "pids_limit": None,
    "memory_limit": 2**63 - 1,
    "cpu_limit": None,
    "devices": ["/dev/fuse", "/dev/net/tun", "/dev/null"],
    "shown": dict.fromkeys(MASKED, "shown"),
    "namespaces": {"pid": "pid:[1]"},
    "refused": {**REFUSED, "user_namespace": False, "ptrace": False},
}
HELD = {
    "host_limit_pids": str(LIMITS.pids),
    "host_limit_memory": str(LIMITS.memory),
    "host_limit_cpu": str(LIMITS.cpus),
}


def under_gvisor(told=(), **changes):
    found = Findings(**{**GOOD, **OWN_KERNEL, **changes})
    return posture_of(found, SPEC, {**TOLD, **HELD, **dict(told)})


def test_under_gvisor_everything_holds_in_its_own_way():
    """Its files, devices and namespaces are its own, and the host's kernel holds the limits."""
    posture = under_gvisor()

    assert posture.found == {}
    assert posture.facts["kernel_of"] == "gvisor"


@pytest.mark.parametrize(
    ("missing", "told", "changes"),
    [
        ("pids_limit", {"host_limit_pids": str(LIMITS.pids + 1)}, {}),
        ("memory_limit", {"host_limit_memory": "much"}, {}),
        ("cpu_limit", {"host_limit_cpu": str(LIMITS.cpus * 2)}, {}),
        ("seccomp", {}, {"refused": {**OWN_KERNEL["refused"], "vsock": False}}),
        ("no_capabilities", {}, {"status": {**OWN_KERNEL["status"], "CapEff": "1"}}),
        ("no_devices", {}, {"devices": ["/dev/kvm"]}),
    ],
)
def test_under_gvisor_what_was_not_seen_does_not_hold(missing, told, changes):
    """Its own word on limits counts for nothing."""
    assert set(under_gvisor(told, **changes).found) == {missing}


@pytest.mark.parametrize(
    "changes", [{"version": "Linux version 4.4.0"}, {"kernel": TOLD["host_kernel"]}]
)
def test_gvisor_is_told_by_both_marks(changes):
    """The host's kernel under gVisor's words, or another old kernel, is no gVisor."""
    assert "gvisor" in under_gvisor(**changes).found


def test_limit_that_a_command_can_change_is_none():
    """A file of the limits that can be written is worse than a missing one."""
    found = controls(limit_writes=["/sys/fs/cgroup/pids/pids.max"])

    assert {found["pids_limit"], found["memory_limit"], found["cpu_limit"]} == {False}


def test_mounts_that_were_not_told_prove_nothing():
    """An empty table is no table without odd rows."""
    found = controls(mounts=[])

    assert found["expected_mounts"] is found["masked_paths"] is False
