"""The system calls that a box may make, and the profile in the engine's form made from them.

    python3 sandbox-image/seccomp.py > sandbox-image/seccomp.json

What is not listed is refused with EPERM; a test makes each refused call inside. Left out on purpose
(each reaches kernel code that a tool call has no need of, or another process):

- namespaces and mounts: unshare setns mount umount2 pivot_root chroot, the fs* and *mount* family
- other processes: ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise
- kernel surface: bpf perf_event_open io_uring_* userfaultfd fanotify_* lookup_dcookie quotactl
  keyctl add_key request_key open_by_handle_at name_to_handle_at nfsservctl vhangup
- the machine: reboot kexec_* *_module swapon swapoff acct settimeofday clock_settime iopl ioperm
  syslog sethostname setdomainname mq_*, memory placement (mbind move_pages …)

- typing into a terminal for whoever reads it: ioctl TIOCSTI and TIOCLINUX (a program could put
  commands into the shell of a person who is attached)

32-bit and x32 programs have no entry point: through socketcall they would reach sockets that this
profile cannot see.
"""

from __future__ import annotations

import json
from typing import Any

FILES = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat
    faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync
    fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat
    getcwd getdents getdents64 getxattr inotify_add_watch inotify_init inotify_init1
    inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek
    lsetxattr lstat mkdir mkdirat mknod mknodat newfstatat open openat openat2 pipe pipe2 pread64
    preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr
    rename renameat renameat2 rmdir sendfile setxattr splice stat statfs statx symlink symlinkat
    sync sync_file_range syncfs tee truncate umask unlink unlinkat utime utimensat utimes vmsplice
    write writev
"""

WAITING = """
    clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait
    epoll_pwait2 epoll_wait eventfd eventfd2 getitimer gettimeofday
    nanosleep pause poll ppoll pselect6 restart_syscall select setitimer signalfd signalfd4 time
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create
    timerfd_gettime timerfd_settime times
"""

MEMORY = """
    brk get_mempolicy madvise map_shadow_stack membarrier memfd_create mincore mlock mlock2 mlockall
    mmap mprotect mremap msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect
    remap_file_pages shmat shmctl shmdt shmget semctl semget semop semtimedop msgctl msgget msgrcv
    msgsnd mseal
"""

PROCESSES = """
    alarm arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue
    futex_wait futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid
    getgroups getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit
    getrusage getsid gettid getuid ioprio_get ioprio_set kill landlock_add_rule
    landlock_create_ruleset landlock_restrict_self pidfd_open pidfd_send_signal prctl prlimit64
    rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
    sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp
    set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setpgid
    setpriority setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack sysinfo
    tgkill tkill uname vfork wait4 waitid
"""

SOCKETS = """
    accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg
    sendmmsg sendmsg sendto setsockopt shutdown
"""

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_STREAM, SOCK_DGRAM, SOCK_RAW = 1, 2, 3
INTERNET = ((SOCK_STREAM, 0), (SOCK_STREAM, 6), (SOCK_DGRAM, 0), (SOCK_DGRAM, 17))
"""TCP and UDP, by default and by number."""
SOCK_TYPE = 0xF
"""Mask; the rest of the type argument is flags."""
NETLINK_ROUTE, NETLINK_AUDIT = 0, 9

NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW* flag of clone(2)."""

PERSONALITIES = (0x0, 0x20000, 0xFFFFFFFF)
"""Plain Linux, its uname of version 2.6, and the question which it is; above all no READ_IMPLIES."""

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Fake input; and its kin of the console, which pastes."""

ENOSYS, EPROTONOSUPPORT = 38, 93

ARCHITECTURES = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")


def allow(names: list[str], *conditions: dict[str, Any]) -> dict[str, Any]:
    """Return a rule that lets calls through where all conditions hold."""
    return {"names": names, "action": "SCMP_ACT_ALLOW", "args": list(conditions)}


def refuse(names: list[str], number: int, *conditions: dict[str, Any]) -> dict[str, Any]:
    """Return a rule that refuses calls with an errno of its own where all conditions hold."""
    rule = {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": number}
    return {**rule, "args": list(conditions)} if conditions else rule


def equal(argument: int, value: int) -> dict[str, Any]:
    """Return the condition that an argument has this value."""
    return {"index": argument, "value": value, "op": "SCMP_CMP_EQ"}


def masked(argument: int, mask: int, value: int) -> dict[str, Any]:
    """Return the condition that the masked bits of an argument have this value."""
    return {"index": argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def profile() -> dict[str, Any]:
    """Return the profile in the engine's form."""
    plain = [*FILES.split(), *WAITING.split(), *MEMORY.split(), *PROCESSES.split()]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "archMap": [{"architecture": name, "subArchitectures": []} for name in ARCHITECTURES],
        "syscalls": [
            allow(sorted([*plain, *SOCKETS.split()])),
            allow(["clone"], masked(0, NEW_NAMESPACES, 0)),
            # The flags lie in memory, where a filter cannot look; libraries fall back to clone.
            refuse(["clone3"], ENOSYS),
            *(allow(["personality"], equal(0, value)) for value in PERSONALITIES),
            *terminals(),
            *sockets(),
        ],
    }


def terminals() -> list[dict[str, Any]]:
    """Return the rules for every ioctl but two, in a form that only allows.

    "Not equal" will not do: it compares 64 bits where the kernel looks at 32, so that a number
    with a high bit set would pass.
    """
    differ = TIOCSTI ^ TIOCLINUX
    shared = [1 << place for place in range(32) if not differ >> place & 1]
    rules = [allow(["ioctl"], masked(1, bit, ~TIOCSTI & bit)) for bit in shared]
    refused = (TIOCSTI & differ, TIOCLINUX & differ)
    others = [bits for bits in range(differ + 1) if bits & ~differ == 0 and bits not in refused]
    return [*rules, *(allow(["ioctl"], masked(1, differ, bits)) for bits in others)]


def sockets() -> list[dict[str, Any]]:
    """Return the rules for new sockets: local ones, TCP, UDP and the routing table's reader."""
    rules = [allow(["socket", "socketpair"], equal(0, AF_UNIX))]
    for family in (AF_INET, AF_INET6):
        for kind, protocol in INTERNET:
            # The protocol is named, since others would have the kernel load their modules.
            kinds = masked(1, SOCK_TYPE, kind)
            rules.append(allow(["socket"], equal(0, family), kinds, equal(2, protocol)))
    # Programs read the list of addresses through it (getaddrinfo, Node, Go).
    route = equal(2, NETLINK_ROUTE)
    rules += [
        allow(["socket"], equal(0, AF_NETLINK), masked(1, SOCK_TYPE, kind), route)
        for kind in (SOCK_RAW, SOCK_DGRAM)
    ]
    # useradd and the like go on where a kernel has no audit, and give up where they may not use it.
    audit = refuse(["socket"], EPROTONOSUPPORT, equal(0, AF_NETLINK), equal(2, NETLINK_AUDIT))
    return [*rules, audit]


if __name__ == "__main__":
    print(json.dumps(profile(), indent=1))
