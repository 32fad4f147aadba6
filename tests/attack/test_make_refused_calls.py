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
    "uselib": 134, "sysfs": 139, "vhangup": 153, "modify_ldt": 154, "_sysctl": 156, "adjtimex": 159,
    "create_module": 174, "get_kernel_syms": 177, "query_module": 178, "nfsservctl": 180,
    "vserver": 236, "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244,
    "mq_getsetattr": 245, "fanotify_mark": 301, "clock_adjtime": 305, "quotactl_fd": 443,
    "memfd_secret": 447, "process_mrelease": 448, "set_mempolicy_home_node": 450,
}  # fmt: skip
"""Numbers of x86-64."""

NEWER = {
    "cachestat": 451, "statmount": 457, "listmount": 458, "lsm_get_self_attr": 459,
    "lsm_set_self_attr": 460, "lsm_list_modules": 461, "setxattrat": 463, "getxattrat": 464,
    "listxattrat": 465, "removexattrat": 466, "open_tree_attr": 467, "file_getattr": 468,
    "file_setattr": 469, "of-tomorrow": 1000,
}  # fmt: skip
"""Calls that runc's library may not know: those come back as if the kernel lacked them."""

KEPT = ("getpid", "landlock", "memfd", "futex-wake")

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
for name, number in NEWER.items():
    tried(f"newer-{name}", lambda: call(number, 0, 0, 0, 0, 0, 0))
tried("kept-getpid", lambda: call(39))
tried("kept-landlock", lambda: call(444, 0, 0, 1))
tried("kept-memfd", lambda: call(319, ctypes.c_char_p(b"x"), 0))
tried("kept-futex-wake", lambda: call(202, ctypes.byref(ctypes.c_int(0)), 1, 1, 0, 0, 0))
"""


def test_every_refused_call_is_refused(stage):
    """The filter holds for each call by itself: EPERM, before the kernel looks at an argument."""
    found = attempts(stage, f"REFUSED = {REFUSED!r}\nNEWER = {NEWER!r}\n{BODY}")

    # What the kernel lacks (landlock may be off) is no refusal of the filter.
    kept = {name: found.pop(f"kept-{name}") for name in KEPT}
    assert {name for name, what in kept.items() if what in {"EPERM", "EACCES"}} == set()
    assert kept["getpid"].startswith("WORKED")
    newer = {name: found.pop(f"newer-{name}") for name in NEWER}
    assert set(newer.values()) <= {"EPERM", "ENOSYS"}
    assert found.pop("clone3") == "ENOSYS"
    assert len(found) == len(REFUSED) + 7
    assert {name: what for name, what in found.items() if what != "EPERM"} == {}


def test_no_refused_call_is_on_the_list():
    """What the probe tries and what the profile allows have nothing in common."""
    rules = json.loads(PROFILE.read_text())["syscalls"]
    listed = {
        name for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }

    assert listed & {*REFUSED, *NEWER} == set()
