import os
import resource
import subprocess
import sys

import pytest
import tree
from tree import FIRST_MARK, Process, largest_mark, members, processes

MARK = FIRST_MARK - 5
LOWEST = FIRST_MARK - 9


def found(*others, root=100):
    among = [Process(1, 0, 1, None), Process(root, 7, root, MARK), *others]
    return members(root, MARK, lowest=LOWEST, among=among)


def test_descendants_belong():
    """Children of children are ended too."""
    assert found(Process(101, 100, 100, None), Process(102, 101, 102, None)) == [100, 101, 102]


def test_orphan_with_the_mark_belongs():
    """A daemon that left session and parent behind still carries the mark."""
    assert found(Process(200, 7, 200, MARK)) == [100, 200]


def test_process_of_another_command_does_not_belong():
    """Calls run side by side and end apart."""
    assert found(Process(200, 7, 200, MARK + 1), Process(300, 7, 300, MARK - 1)) == [100]


def test_forged_mark_belongs_to_whatever_is_ended():
    """A mark can only be lowered, and below the lowest there is no command to hide in."""
    assert found(Process(200, 7, 200, LOWEST - 1)) == [100, 200]


def test_init_and_server_never_belong():
    """Whatever is ended, not these."""
    me = Process(os.getpid(), 1, 100, MARK)

    assert found(me, Process(1, 0, 100, MARK)) == [100]


def test_largest_crowd_is_found():
    """A fork bomb is whoever has most processes."""
    crowd = [Process(n, 1, n, MARK) for n in range(5)]
    others = [Process(n, 1, n, MARK + 1) for n in range(10, 12)]

    assert largest_mark([*others, *crowd, Process(1, 0, 1, None)]) == MARK
    assert largest_mark([]) is None


@pytest.fixture
def marked():
    """A child of a child that carries a mark."""

    command = ["bash", "-c", "read; setsid sleep 30 & echo; wait"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as child:
        resource.prlimit(child.pid, resource.RLIMIT_RTTIME, (MARK, MARK))
        child.stdin.write(b"go\n")
        child.stdin.flush()
        child.stdout.readline()
        yield child
        tree.send(members(child.pid, MARK, lowest=0, among=processes()), 9)


def test_mark_is_inherited_and_can_be_read(marked):
    """Real processes: the kernel keeps the mark through fork, exec and setsid."""
    among = processes()

    own = [process for process in among if process.mark == MARK]
    assert len(own) >= 2
    assert {p.pid for p in own} == set(members(marked.pid, MARK, lowest=0, among=among))


def test_signal_to_a_gone_process_is_no_error():
    """Between looking and sending a process may end."""
    child = subprocess.Popen(["true"])
    child.wait()

    tree.send([child.pid], 0)


def test_process_whose_first_thread_ended_is_found():
    """It shows as a zombie, and its other threads run on."""
    script = (
        "import ctypes, threading, time; "
        "threading.Thread(target=lambda: (time.sleep(0.2), print('on', flush=True), "
        "time.sleep(60))).start(); ctypes.CDLL(None).pthread_exit(None)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"on\n"
        assert process.pid in [item.pid for item in processes()]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert process.pid not in [item.pid for item in processes()]
