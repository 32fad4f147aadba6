"""Runs in a box, as a command: looks for what the public container enumerations look for.

Prints one line a check: ``FOUND`` with what could be used, or ``closed`` with what was seen. Their
checks, in this program's own words, so that it runs where none of theirs is at hand.
"""

import glob
import os
import stat
import subprocess


def text(path):
    """Return a file's text, empty where it cannot be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def status(name):
    """Return a line of the own status file."""
    for line in text("/proc/self/status").splitlines():
        if line.startswith(f"{name}:"):
            return line.split(":", 1)[1].strip()
    return ""


def exists(*patterns):
    """Return what is there of these."""
    return [path for pattern in patterns for path in glob.glob(pattern)]


def writable(*patterns):
    """Return what of these can be written."""
    return [path for path in exists(*patterns) if os.access(path, os.W_OK)]


def mounts():
    """Return source and target of each mount that shows a block device or a host's directory."""
    found = []
    for line in text("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        source, target, options = after.split()[1], before.split()[4], before.split()[5]
        if source.startswith("/dev/") and "rw" in options.split(","):
            found.append(f"{target} from {source}")
    return found


def setid():
    """Return programs that run with more than their caller's rights."""
    words = ["find", "/", "-xdev", "-type", "f", "-perm", "/6000"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()


def capable():
    """Return files with capabilities."""
    found = []
    for top in ("/usr", "/opt", "/home", "/tmp"):
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if "security.capability" in os.listxattr(path, follow_symlinks=False):
                        found.append(path)
                except OSError:
                    continue
    return found


def blocks():
    """Return block devices that can be opened."""
    found = []
    for folder, _, names in os.walk("/dev"):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISBLK(os.lstat(path).st_mode) and os.access(path, os.R_OK):
                found.append(path)
    return found


def capabilities():
    """Return the sets that are not empty, the bounding one apart: no new privileges close it."""
    found = [n for n in ("CapInh", "CapPrm", "CapEff", "CapAmb") if set(status(n)) - {"0"}]
    return found + ([] if status("NoNewPrivs") == "1" else ["new privileges are possible"])


def services():
    """Return who listens in this network namespace, besides nobody."""
    rows = []
    for name in ("tcp", "tcp6", "udp", "udp6"):
        rows += [f"{name} {line.split()[1]}" for line in text(f"/proc/net/{name}").splitlines()[1:]]
    return rows


def foreign_processes():
    """Return commands of processes that are neither this one's kin nor the server's."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        line = text(path).replace("\0", " ").strip()
        if (
            line
            and "enumerate_box" not in line
            and "/opt/glovebox" not in line
            and not line.startswith(("spare ", "witness "))
            and "init" not in line
        ):
            found.append(line[:80])
    return found


def secrets():
    """Return variables and files whose names speak of keys."""
    words = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL")
    named = [name for name in os.environ if any(word in name.upper() for word in words)]
    return named + exists(
        "/run/secrets/*", "/var/run/secrets/*", "/root/.aws/*", "/home/*/.aws/*", "/home/*/.ssh/*",
        "/home/*/.docker/config.json", "/home/*/.kube/config", "/home/*/.netrc", "/.dockerenv-secrets",
    )  # fmt: skip


CHECKS = {
    "engine sockets": lambda: exists("/run/*.sock", "/var/run/*.sock", "/run/*/*.sock"),
    "capabilities": capabilities,
    "system call filter": lambda: [] if status("Seccomp") == "2" else [f"mode {status('Seccomp')}"],
    "host's processes": foreign_processes,
    "network interfaces": lambda: [
        line.split(":")[0].strip()
        for line in text("/proc/net/dev").splitlines()[2:]
        if not line.strip().startswith("lo:")
    ],
    "routes": lambda: text("/proc/net/route").splitlines()[1:],
    "services in reach": services,
    "disks": blocks,
    "writable mounts of disks": mounts,
    "privileged devices": lambda: exists("/dev/kvm", "/dev/mem", "/dev/kmsg", "/dev/net/tun", "/dev/fuse", "/dev/sd*", "/dev/vd*", "/dev/nvme*"),
    "kernel settings that call programs": lambda: writable("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/sys/kernel/uevent_helper", "/proc/sys/fs/binfmt_misc/register"),
    "release agents of groups": lambda: writable("/sys/fs/cgroup/*/release_agent", "/sys/fs/cgroup/release_agent"),
    "limits that can be lifted": lambda: writable("/sys/fs/cgroup/*.max", "/sys/fs/cgroup/*/*.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "triggers and memory in /proc": lambda: writable("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmem", "/proc/mem"),
    "kernel symbols": lambda: [line for line in text("/proc/kallsyms").splitlines()[:1] if not line.startswith("0000000000000000")],
    "host's boot line": lambda: [text("/proc/cmdline").strip()] if text("/proc/cmdline").strip() else [],
    "set-id programs": setid,
    "files with capabilities": capable,
    "system files that can be written": lambda: writable("/etc/passwd", "/etc/shadow", "/etc/sudoers*", "/etc/ld.so*", "/etc/cron*/*", "/usr/bin/*", "/usr/lib/systemd/system/*", "/opt/glovebox/*", "/opt/glovebox/*/*"),
    "secrets by name": secrets,
    "user ids that can be mapped": lambda: [] if os.system("unshare -U true 2>/dev/null") else ["unshare -U works"],
}  # fmt: skip

if __name__ == "__main__":
    for name, check in CHECKS.items():
        seen = check()
        print(
            f"FOUND {name}: {', '.join(map(str, seen))[:300]}" if seen else f"closed {name}",
            flush=True,
        )
    print(f"checked {len(CHECKS)}")
