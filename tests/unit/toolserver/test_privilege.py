import json
import os
from types import SimpleNamespace

import pytest
from privilege import as_command


def test_identity_is_given_back():
    """The server is itself again, even after a failure in between."""
    own = SimpleNamespace(uid=os.geteuid(), gid=os.getegid())
    before = (os.geteuid(), os.getegid())
    with pytest.raises(ZeroDivisionError), as_command(own):
        raise ZeroDivisionError

    assert (os.geteuid(), os.getegid()) == before


INSIDE = """
import json, os
from privilege import as_command, drop_for_good, leave_server, become_subreaper
found = {}
with as_command(config):
    found["during"] = [os.geteuid(), os.getegid()]
    found["caps"] = [line.split()[1] for line in open("/proc/thread-self/status") if "CapEff" in line]
found["after"] = [os.geteuid(), os.getegid()]
become_subreaper()
held = os.open("/etc/passwd", os.O_RDONLY)
read, write = os.pipe()
if os.fork() == 0:
    leave_server(config, keep=(write,))
    drop_for_good(config, 12345)
    text = open("/proc/self/status").read() + open("/proc/self/limits").read()
    os.set_inheritable(write, True)
    wanted = ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "SigIgn", "Max realtime", "Max file", "Max core")
    lines = [line for line in text.splitlines() if line.startswith(wanted)]
    lines.append("fds " + " ".join(os.readlink(f"/proc/self/fd/{n}") for n in range(3, 9) if os.path.exists(f"/proc/self/fd/{n}")))
    lines.append("oom " + open("/proc/self/oom_score_adj").read().strip())
    try:
        os.setuid(0)
    except OSError:
        lines.append("no way back")
    os.write(write, json.dumps(lines).encode())
    os._exit(0)
os.close(write)
found["child"] = json.loads(os.read(read, 65536))
print(json.dumps(found))
"""


@pytest.mark.docker
def test_powers_are_put_down(stage):
    """For a moment in the server, for good in a child: ids, capabilities, descriptors, limits."""
    found = json.loads(stage.play(lambda scene: scene.as_server(INSIDE)))

    assert found["during"] == [1000, 1000]
    assert found["after"] == [0, 0]
    assert set(found["caps"][0]) == {"0"}
    child = {line.split()[0]: line.split()[1:] for line in found["child"]}
    assert child["Uid:"] == child["Gid:"] == ["1000"] * 4
    assert child["Groups:"] == []
    assert set(child["CapPrm:"][0] + child["CapEff:"][0]) == {"0"}
    # Python cannot set 32 and 33, the C library's own; an engine may hand them on ignored.
    assert int(child["SigIgn:"][0], 16) & ~(0b11 << 31) == 0
    assert not [target for target in child["fds"] if "passwd" in target]
    assert child["oom"] == ["1000"]
    assert "no way back" in found["child"]
    limits = {line.split("  ")[0]: line.split() for line in found["child"] if line[:3] == "Max"}
    assert limits["Max realtime timeout"][-2] == "12345"
    assert limits["Max core file size"][-2] == "0"
