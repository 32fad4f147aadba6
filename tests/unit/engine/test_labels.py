import os
import subprocess

import pytest

from orchestrator.engine.labels import is_alive, owner_label


def changed(label, place, value):
    parts = label.split(":")
    parts[place] = value
    return ":".join(parts)


def test_this_process_is_alive():
    """And so is any other that runs."""
    assert is_alive(owner_label())
    assert is_alive(owner_label(1))


def test_ended_process_is_dead():
    """Also before anybody collected it."""
    child = subprocess.Popen(["sleep", "60"])
    label = owner_label(child.pid)
    assert is_alive(label)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    assert not is_alive(label)

    child.wait()
    assert not is_alive(label)


def test_later_process_with_the_same_number_is_another():
    """Numbers are used again; start times are not."""
    assert not is_alive(changed(owner_label(), 1, "1"))


def test_process_of_an_earlier_boot_is_dead_where_only_we_use_the_engine():
    """On a shared engine it may be another machine's, and is left alone."""
    label = changed(owner_label(), 2, "11111111-2222-3333-4444-555555555555")

    assert not is_alive(label)
    assert is_alive(label, same_machine=False)


def test_process_of_another_pid_namespace_is_left_alone():
    """Its number means nothing here."""
    assert is_alive(changed(changed(owner_label(), 3, "1"), 0, "4194303"))


@pytest.mark.parametrize("label", ["", "abc", "1:2", "x:1:b:n", "1:2:3", "1:2:3:4:5"])
def test_label_that_is_none_belongs_to_nobody(label):
    """Only our own form names an owner."""
    assert not is_alive(label)


def test_process_that_is_not_there_has_no_label():
    """Nobody can own in its name."""
    with pytest.raises(ProcessLookupError):
        owner_label(2**22 + 1)
