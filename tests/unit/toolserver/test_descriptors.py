import os

from descriptors import Descriptors


def test_who_waits_is_called_when_ready():
    """Reader and writer of one descriptor are two; who no longer waits is left alone."""
    waits, called = Descriptors(), []
    read, write = os.pipe2(os.O_NONBLOCK)
    waits.on_readable(read, lambda: called.append("read"))
    waits.on_writable(write, lambda: called.append("write"))
    waits.call_ready(0)
    os.write(write, b"x")
    waits.on_writable(write, None)
    waits.call_ready(0)
    waits.on_readable(read, None)
    waits.call_ready(0)
    os.close(read)
    os.close(write)

    assert called == ["write", "read"]


def test_no_more_are_called_than_asked_for():
    """The others have the next turn."""
    waits, called = Descriptors(), []
    ends = [os.pipe2(os.O_NONBLOCK) for _ in range(5)]
    for number, (read, write) in enumerate(ends):
        waits.on_readable(read, lambda number=number: called.append(number))
        os.write(write, b"x")
    waits.call_ready(0, 2)
    first = list(called)
    waits.call_ready(0, 5)
    for read, write in ends:
        os.close(read)
        os.close(write)

    assert len(first) == 2
    assert set(called) == set(range(5))
