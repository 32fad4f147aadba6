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
    [
        "vsock",
        "raw_socket",
        "packet_socket",
        "crypto_socket",
        "user_namespace",
        "mount",
        "ptrace",
        "keyctl",
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "io_uring_setup",
        "root",
    ],
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
    "kernel": "6.1",
    "interfaces": ["lo"],
    "routes": 0,
    "root_options": "ro,relatime",
    "root_writes": [],
    "pids_limit": LIMITS.pids,
    "memory_limit": LIMITS.memory,
    "cpu_limit": LIMITS.cpus,
    "disk_limit": LIMITS.disk,
    "disk_places": list(writable_places(SPEC)),
    "file_size_limit": LIMITS.file_size,
    "mounts": MOUNTS,
    "namespaces": {name: f"{name}:[{4026532000 + n}]" for n, name in enumerate(NAMES)},
    "devices": ["/dev/null", "/dev/tty"],
    "shown": {**dict.fromkeys(MASKED, "hidden"), "/proc/sysrq-trigger": "absent"},
    "version": GVISOR,
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
    """The baseline of the cases below."""
    assert set(controls().values()) == {True}


@pytest.mark.parametrize(
    ("missing", "changes"),
    [
        ("seccomp", status(Seccomp="0")),
        ("seccomp", {"status": {k: v for k, v in STATUS.items() if k != "Seccomp"}}),
        ("seccomp", refused("vsock")),
        ("seccomp", refused("raw_socket")),
        ("seccomp", refused("user_namespace")),
        ("seccomp", {"refused": {"root": True}}),
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
        ("expected_mounts", {"mounts": []}),
        ("expected_mounts", mounted("/var/run/docker.sock")),
        ("expected_mounts", mounted("/data")),
        ("expected_mounts", mounted("/workspace", propagation="shared:7")),
        ("expected_mounts", mounted("/etc/hosts", options="rw")),
        ("gvisor", {"version": "Linux version 6.6.0"}),
        ("gvisor", {"kernel": "6.6"}),
    ],
)
def test_control_that_was_not_seen_does_not_hold(missing, changes):
    """Engines drop options silently, so only what was found inside counts."""
    found = controls(**changes)

    assert found[missing] is False
    assert [name for name, holds in found.items() if not holds] == [missing]


def test_facts_are_kept_for_the_record():
    """What the engine told and what was found stand side by side."""
    posture = posture_of(Findings(**GOOD), SPEC, {"engine": "24"})

    assert posture.facts["engine"] == "24"
    assert posture.facts["uid"] == "1000"
    assert posture.facts["pids_limit"] == str(LIMITS.pids)


HOST_KERNEL = {"kernel": "6.6", "version": "Linux version 6.6 (host)"}
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
    plain = posture_of(Findings(**{**GOOD, **HOST_KERNEL}), SPEC, TOLD)
    assert set(plain.found) == {"gvisor"}

    posture = posture_of(Findings(**{**GOOD, **HOST_KERNEL, **changes}), SPEC, TOLD)

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
    assert facts["kernel_of"] == "gvisor"
