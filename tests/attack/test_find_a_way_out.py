"""A command looks for what others left open: sockets, descriptors, agents, desktops, state."""

import os
import secrets
import socket
import tempfile
from pathlib import Path

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

SOCKETS = r"""
import stat
found = []
for top in ("/", "/run", "/tmp", "/var", "/glove", "/home", "/workspace"):
    for folder, folders, names in os.walk(top):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys")]
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode):
                    found.append(path)
            except OSError:
                continue
print("sockets", ",".join(sorted(set(found))) or "none")
def reach(path):
    def act():
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(path)
    return act
for name in ("docker", "containerd/containerd", "podman/podman", "crio/crio"):
    for top in ("/run", "/var/run"):
        tried(f"{top}/{name}", reach(f"{top}/{name}.sock"))
own = socket.socket(socket.AF_UNIX)
own.bind("/tmp/own.sock")
own.listen()
tried("control", reach("/tmp/own.sock"))
"""

ABSTRACT = r"""
def reach(name):
    def act():
        with socket.socket(socket.AF_UNIX) as line:
            line.connect("\0" + name)
    return act
for name in NAMES:
    tried(name, reach(name))
own = socket.socket(socket.AF_UNIX)
own.bind("\0own-of-the-box")
own.listen()
tried("control", reach("own-of-the-box"))
"""

DESCRIPTORS = r"""
for number in range(3, 64):
    tried(f"leads-{number}", lambda: os.listdir(f"/proc/self/fd/{number}/../../../.."))
    tried(f"is-open-{number}", lambda: os.fstat(number))
print("cwd", os.getcwd())
print("root-inode", os.stat("/").st_ino == os.stat("/proc/1/cwd/..").st_ino if os.access("/proc/1/cwd", os.X_OK) else "closed")
tried("control", lambda: os.fstat(0) and "open")
"""

LEFT = r"""
env; echo ---
ls -d /home/*/.gnupg /root/.ssh /home/agent/.ssh /run/user /run/dbus /tmp/.X11-unix /var/run/docker.sock \
  /root/.local /etc/glovebox /home/agent/.local/state/glovebox /run/user/*/gnupg 2>/dev/null
echo ---; command -v xclip xsel wl-copy xdg-open sensible-browser; echo looked
"""


def test_engines_socket_is_nowhere(stage):
    """Whoever reaches the engine is root of the host."""
    found = attempts(stage, SOCKETS)

    assert found.pop("sockets") == "none"
    assert found.pop("control").startswith("WORKED")
    assert set(found.values()) <= {"ENOENT", "EACCES"}
    assert len(found) == 8


def test_abstract_sockets_of_the_host_are_out_of_reach(stage):
    """They belong to a network namespace, and the box has its own."""
    name = f"glovebox-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        with socket.socket(socket.AF_UNIX) as proof:
            proof.connect(f"\0{name}")
        found = attempts(stage, f"NAMES = [{name!r}]\n{ABSTRACT}")

    assert found.pop("control").startswith("WORKED")
    assert found == {name: "ECONNREFUSED"}


def test_no_leaked_descriptor_leads_to_the_host(stage):
    """Neither the runtime nor the server leaves one open, and the working directory is the box's."""
    found = attempts(stage, DESCRIPTORS)

    assert found.pop("control") == "WORKED open"
    assert found.pop("cwd") == "/workspace"
    assert found.pop("root-inode") == "closed"
    assert {name for name, what in found.items() if what.startswith("WORKED")} == set()
    assert len(found) == 2 * 61


def test_state_of_the_host_is_not_in_the_box(stage):
    """Audit and sessions are written by the harness alone, where no command can see them."""
    with tempfile.TemporaryDirectory() as folder:
        marker = secrets.token_hex(12)
        Path(folder, f"{marker}.jsonl").write_text("{}\n")
        text = stage.output(
            f"find / -xdev -name '*{marker}*' 2>/dev/null; touch /tmp/{marker[:8]}; find / -name {marker[:8]} 2>/dev/null; {LEFT}"
        )

    assert text.startswith(f"/tmp/{marker[:8]}\n")
    assert marker not in text
    assert "glovebox" not in text.split("---")[1]


def test_no_agent_is_forwarded(stage):
    """Neither a variable nor a socket of a key agent is there."""
    before, folders, programs = stage.output(LEFT).split("---")

    assert "PATH=" in before
    for name in ("SSH_AUTH_SOCK", "GPG_AGENT_INFO", "GNUPGHOME"):
        assert name not in before
    assert folders.strip() == ""
    assert programs.strip() == "looked"


def test_no_desktop_is_reachable(stage):
    """No display, no message bus, no clipboard."""
    before, folders, programs = stage.output(LEFT).split("---")

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        assert f"{name}=" not in before
    assert "dbus" not in folders
    assert programs.strip() == "looked"
    assert os.sep not in programs
