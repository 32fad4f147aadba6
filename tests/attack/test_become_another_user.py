"""A command tries to become another user, root above all, or to gain a capability."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

BECOME = r'''
import shutil, stat, struct, subprocess

tried("setuid0", lambda: os.setuid(0))
tried("setresuid0", lambda: os.setresuid(0, 0, 0))
tried("seteuid0", lambda: os.seteuid(0))
tried("setuid1001", lambda: os.setuid(1001))
tried("setgid0", lambda: os.setgid(0))
tried("setgroups", lambda: os.setgroups([0]))
tried("setgroups-none", lambda: os.setgroups([]))

def fsuid():
    """setfsuid answers with the old id and never fails: ask twice."""
    libc.setfsuid(0)
    if libc.setfsuid(0) != 0:
        raise OSError(errno.EPERM, "kept")
tried("setfsuid", fsuid)

def capset():
    header = struct.pack("Ii", 0x20080522, 0)
    data = struct.pack("IIIIII", 1 << 7, 1 << 7, 0, 0, 0, 0)
    if libc.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset")
tried("capset", capset)

def ambient():
    if libc.prctl(47, 2, 7, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
tried("ambient", ambient)

def uid_after(path):
    shown = subprocess.run([path, "-u"], capture_output=True, text=True)
    if shown.stdout.strip() != "0":
        raise OSError(errno.EPERM, shown.stdout + shown.stderr)
shutil.copy("/usr/bin/id", "/tmp/id")
os.chmod("/tmp/id", 0o6755)
tried("own-setuid-file", lambda: uid_after("/tmp/id"))
tried("chown-to-root", lambda: os.chown("/tmp/id", 0, 0))
tried("file-capability", lambda: os.setxattr("/tmp/id", "security.capability",
      struct.pack("<IIIII", 0x02000001, 1 << 7, 0, 0, 0)))

def left():
    found = [os.path.join(folder, name) for folder, _, names in os.walk("/usr") for name in names
             if os.lstat(os.path.join(folder, name)).st_mode & 0o6000]
    if not found:
        raise OSError(errno.ENOENT, "none")
    return found
tried("setuid-files-of-the-image", left)
for line in open("/proc/self/status"):
    if line.startswith(("Cap", "NoNewPrivs", "Uid", "Groups")):
        print("status:" + line.split(":")[0], " ".join(line.split()[1:]) or "-")
'''


def test_nobody_else_can_be_become(stage):
    """Ids stay, capabilities stay empty, set-id files do nothing."""
    found = attempts(stage, BECOME)

    status = {n.removeprefix("status:"): found.pop(n) for n in [*found] if n.startswith("status:")}
    assert status["Uid"] == "1000 1000 1000 1000"
    assert status["Groups"] == "-"
    assert status["NoNewPrivs"] == "1"
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert set(status[name]) == {"0"}, name
    assert len(found) == 14
    assert found.pop("setuid-files-of-the-image") == "ENOENT"
    assert set(found.values()) == {"EPERM"}
