"""A command makes each system call that the filter leaves out, with arguments that are harmless."""

import json
from pathlib import Path

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

PROFILE = Path(__file__).parents[2] / "sandbox-image" / "seccomp.json"

REFUSED = {
    "ptrace": 101, "syslog": 103, "personality-no-exec": 135, "ustat": 136, "pivot_root": 155,
    "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
    "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212,
    "clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "mq_open": 240, "mq_unlink": 241,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256,
    "unshare": 272, "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442,
}  # fmt: skip
"""Numbers of x86-64."""

BODY = """
for name, number in REFUSED.items():
    if name == "personality-no-exec":
        tried(name, lambda: call(number, 0x0400000))
    else:
        tried(name, lambda: call(number, 0, 0, 0, 0, 0, 0))
for flag in ("NEWNS 20000", "NEWCGROUP 2000000", "NEWUTS 4000000", "NEWIPC 8000000",
             "NEWUSER 10000000", "NEWPID 20000000", "NEWNET 40000000"):
    name, value = flag.split()
    tried(f"clone-{name}", lambda: call(56, int(value, 16) | 17, 0, 0, 0, 0))
tried("clone3", lambda: call(435, 0, 0))
tried("allowed-getpid", lambda: call(39))
"""


def test_every_refused_call_is_refused(stage):
    """The filter holds for each call by itself: EPERM, before the kernel looks at an argument."""
    found = attempts(stage, f"REFUSED = {REFUSED!r}\n{BODY}")

    assert found.pop("allowed-getpid").startswith("WORKED")
    assert found.pop("clone3") == "ENOSYS"
    assert len(found) == len(REFUSED) + 7
    assert {name: what for name, what in found.items() if what != "EPERM"} == {}


def test_no_refused_call_is_on_the_list():
    """What the probe tries and what the profile allows have nothing in common."""
    rules = json.loads(PROFILE.read_text())["syscalls"]
    listed = {
        name for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }

    assert listed & set(REFUSED) == set()
