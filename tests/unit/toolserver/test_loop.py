"""The loop takes over signals and children of its process, so each test gives it one."""

import subprocess
import sys

from tests.support.boxed_files import TOOLSERVER

HEAD = f"""
import os, sys, time
sys.path.insert(0, {str(TOOLSERVER)!r})
from loop import Loop
loop = Loop()
"""


def printed(source: str) -> str:
    command = [sys.executable, "-I", "-c", HEAD + source]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout


def test_timers_fire_in_order_unless_cancelled():
    """A cancelled timer never fires, the others do in time's order."""
    source = """
loop.after(0.02, lambda: print("second"))
loop.after(0.01, lambda: print("first"))
loop.cancel(loop.after(0.015, lambda: print("never")))
loop.after(0.03, loop.stop)
loop.run()
"""
    assert printed(source) == "first\nsecond\n"


def test_cancelled_timers_do_not_pile_up():
    """Every command makes a long timer and cancels it."""
    source = """
for _ in range(5000):
    loop.cancel(loop.after(600, print))
print(len(loop._timers) < 600)
"""
    assert printed(source) == "True\n"


def test_ended_child_is_reported_and_collected():
    """The handler gets the status; orphans are collected without one."""
    source = """
def ended(status):
    print(os.waitstatus_to_exitcode(status))
    loop.stop()
for code in (0, 7):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.1 if code else 0)
        os._exit(code)
loop.on_exit(pid, ended)
loop.run()
loop.reap()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody left")
"""
    assert printed(source) == "7\nnobody left\n"


def test_descriptor_dropped_in_its_own_batch_is_not_called():
    """A handler may drop another whose event came in the same batch."""
    source = """
first, second = os.pipe(), os.pipe()
os.write(first[1], b"x"); os.write(second[1], b"x")
def drop():
    print("called")
    loop.on_readable(first[0], None); loop.on_readable(second[0], None)
    loop.after(0.05, loop.stop)
loop.on_readable(first[0], drop); loop.on_readable(second[0], drop)
loop.run()
"""
    assert printed(source) == "called\n"


def test_reading_and_writing_share_a_descriptor():
    """A socket is watched for both, and one is dropped without the other."""
    source = """
import socket
ours, theirs = socket.socketpair()
ours.setblocking(False)
def readable():
    print("read", ours.recv(10))
    loop.stop()
def writable():
    print("write")
    loop.on_writable(ours.fileno(), None)
    theirs.send(b"x")
loop.on_readable(ours.fileno(), readable)
loop.on_writable(ours.fileno(), writable)
loop.run()
"""
    assert printed(source) == "write\nread b'x'\n"
