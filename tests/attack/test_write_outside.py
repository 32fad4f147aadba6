"""A command tries to write anywhere but to the workspace and its own scratch places."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

WRITE = """
def create(folder):
    def act():
        path = os.path.join(folder, ".planted")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(path)
    return act

seen = 0
for folder, names, _ in os.walk("/"):
    names[:] = [name for name in names if not os.path.islink(os.path.join(folder, name))]
    # Descriptors and threads of the probe itself; the rest of /proc and /sys is walked one deep.
    if folder in ("/proc", "/sys"):
        names[:] = [name for name in names if not name.isdigit() and name != "fs"]
    elif folder.startswith(("/proc/", "/sys/")):
        names[:] = []
    seen += 1
    try:
        create(folder)()
    except OSError:
        continue
    print("writable:" + folder, "yes")
print("seen", seen)

def overwrite(path):
    return lambda: os.close(os.open(path, os.O_WRONLY))

for path in ("/etc/passwd", "/usr/bin/env", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/pids/pids.max",
             "/opt/glovebox/toolserver/__main__.py", "/etc/resolv.conf", "/proc/1/mem",
             "/proc/sys/net/ipv4/ip_forward", "/dev/kmsg", "/dev/mem"):
    tried("write:" + path, overwrite(path))
tried("device", lambda: os.mknod("/tmp/disk", 0o060600, os.makedev(254, 0)))
"""

OWN = ("/workspace", "/tmp", "/home/agent", "/dev/shm")


def test_only_the_workspace_and_scratch_take_a_write(stage):
    """Every directory of the box is tried; four mounts are writable, and nothing beside them."""
    found = attempts(stage, WRITE)

    assert int(found.pop("seen")) > 500
    places = {name.removeprefix("writable:") for name in found if name.startswith("writable:")}
    assert set(OWN) <= places
    assert {place for place in places if not place.startswith(OWN)} == set()


def test_no_file_of_the_system_opens_for_writing(stage):
    """Neither the image's files, nor the kernel's switches, nor the limits of the box."""
    found = attempts(stage, WRITE)

    refused = {name: what for name, what in found.items() if name.startswith("write:")}
    assert len(refused) == 12
    assert not [name for name, what in refused.items() if what.startswith("WORKED")]
    assert found["device"] == "EPERM"
