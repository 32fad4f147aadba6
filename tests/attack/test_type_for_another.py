"""A command puts words into the input of whoever reads its terminal, as if they had typed them."""

import pytest

from tests.support.boxes import attempts

pytestmark = pytest.mark.docker

BODY = """
import array, fcntl, os, pty, struct, termios
LINUX = 0x541C
pid, master = pty.fork()
if pid == 0:
    high = 1 << 32
    ioctl = 16
    for name, number in (("sti", termios.TIOCSTI), ("linux", LINUX)):
        tried(name, lambda: fcntl.ioctl(0, number, b"x"))
        # The kernel looks at 32 bits of the number, a careless filter at 64.
        tried(name + "-high", lambda: call(ioctl, 0, ctypes.c_ulong(number | high), ctypes.c_char_p(b"x")))
    for name in ("TCGETS", "TIOCGWINSZ", "TIOCGPGRP"):
        tried("allowed-" + name, lambda: bool(fcntl.ioctl(0, getattr(termios, name), bytes(64))))
    os._exit(0)
said = b""
while True:
    try:
        piece = os.read(master, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
print(said.decode().replace("\\r", ""), flush=True)
"""


def test_terminal_cannot_be_typed_into(stage):
    """Even in a terminal that the command controls, where old kernels allow it."""
    found = attempts(stage, BODY)

    allowed = [name for name, what in found.items() if what == "WORKED True"]
    assert sorted(allowed) == ["allowed-TCGETS", "allowed-TIOCGPGRP", "allowed-TIOCGWINSZ"]
    refused = {name: what for name, what in found.items() if not name.startswith("allowed")}
    assert refused == dict.fromkeys(["sti", "sti-high", "linux", "linux-high"], "EPERM")
