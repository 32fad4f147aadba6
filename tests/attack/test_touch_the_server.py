"""A command attacks the tool server: kill, stop, trace, read, or speak in its place."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

TOUCH = r"""
import glob, signal

def pids():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = open(f"/proc/{name}/cmdline").read()
            except OSError:
                continue
            if "toolserver" in words or words.startswith("witness"):
                yield int(name)

print("descriptors", ",".join(sorted(os.listdir("/proc/self/fd"), key=int)))
found = sorted(pids())
print("roots", len(found))
for pid in found:
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCHLD, 0):
        tried(f"kill-{pid}-{int(number)}", lambda: os.kill(pid, number))
    tried(f"pidfd-kill-{pid}", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9))
    tried(f"ptrace-{pid}", lambda: call(101, 16, pid, 0, 0))
    tried(f"prlimit-{pid}", lambda: call(302, pid, 7, ctypes.byref(ctypes.create_string_buffer(16)), 0))
    for name in ("mem", "environ", "maps", "syscall", "stack", "auxv", "pagemap", "io"):
        tried(f"read-{pid}-{name}", lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
    for name in ("cwd", "root", "exe", "ns/net"):
        tried(f"follow-{pid}-{name}", lambda: os.readlink(f"/proc/{pid}/{name}"))
    tried(f"fds-{pid}", lambda: os.listdir(f"/proc/{pid}/fd"))
    for fd in range(12):
        tried(f"fd-{pid}-{fd}", lambda: os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR))
    tried(f"write-oom-{pid}", lambda: open(f"/proc/{pid}/oom_score_adj", "w").write("1000"))
tried("enter-glove", lambda: os.listdir("/glove"))
tried("enter-socket-directory", lambda: os.listdir("/glove/s"))

def speak():
    with socket.socket(socket.AF_UNIX) as line:
        line.connect("/glove/s/glove")
tried("socket", speak)
tried("own-stdin", lambda: os.readlink("/proc/self/fd/0") == "/dev/null" or "not null")
try:
    os.kill(-1, signal.SIGCONT)
    print("kill-everybody", "sent")
except OSError as err:
    print("kill-everybody", errno.errorcode[err.errno])
"""


def test_the_server_cannot_be_touched(stage):
    """Init, server, spare and witness are root's: no signal, no trace, no descriptor, no socket of theirs."""
    found = attempts(stage, TOUCH)

    assert int(found.pop("roots")) >= 3
    assert found.pop("own-stdin") == "WORKED True"
    # Standard streams and the directory that is being listed: nothing was inherited.
    assert found.pop("descriptors") == "0,1,2,3"
    found.pop("kill-everybody")
    worked = {name: what for name, what in found.items() if what.startswith("WORKED")}
    assert worked == {}
    assert len(found) > 60
    # ENOENT: the socket is removed from the host as soon as the server has called.
    assert set(found.values()) <= {"EPERM", "EACCES", "ENOENT"}


def test_killing_everybody_leaves_the_session_alive(stage):
    """A command that kills all it can ends itself, and the next one runs."""

    async def scene(scene):
        killed = await scene.run("echo before; kill -9 -1; echo after")
        return killed, await scene.output("echo next")

    killed, following = stage.play(scene)

    assert killed.data["head"].startswith("before\n")
    assert following == "next\n"
