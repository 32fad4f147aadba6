import time

import pytest

from orchestrator.sandbox.heart import Heart


class LinkStandIn:
    def __init__(self):
        self.pings = 0

    def ping(self):
        self.pings += 1


def until(seen):
    deadline = time.monotonic() + 5
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def heart():
    return Heart(beat_s=0.01, silence_s=0.15)


def test_boxes_are_told_that_the_host_lives(heart):
    """Each box gets its beats."""
    links = [LinkStandIn(), LinkStandIn()]
    pulses = [heart.add(link, lambda: None) for link in links]
    until(lambda: all(link.pings > 3 for link in links))
    for pulse in pulses:
        heart.remove(pulse)


def test_silent_box_is_reported_once(heart):
    """A box that does not answer is not waited for."""
    silent = []
    heart.add(LinkStandIn(), lambda: silent.append(1))
    until(lambda: silent)
    time.sleep(0.05)

    assert silent == [1]


def test_box_that_answers_is_not_silent(heart):
    """Every answer begins the time anew."""
    silent = []
    pulse = heart.add(LinkStandIn(), lambda: silent.append(1))
    for _ in range(30):
        pulse.answered()
        time.sleep(0.01)
    heart.remove(pulse)

    assert silent == []


def test_heart_without_boxes_has_no_thread(heart):
    """An idle process costs nothing, and the heart starts again when needed."""
    for _ in range(2):
        pulse = heart.add(LinkStandIn(), lambda: None)
        assert heart._thread.is_alive()
        heart.remove(pulse)
        heart.remove(pulse)
        until(lambda: heart._thread is None)


def test_time_in_which_the_host_stood_still_is_no_silence(heart):
    """A host that slept for long hears each box out before it gives it up."""
    silent = []
    pulse = heart.add(LinkStandIn(), lambda: silent.append(1))
    # The heart cannot go on without this, as a stopped process cannot.
    with heart._lock:
        time.sleep(0.5)
    pulse.answered()
    until(lambda: pulse.unanswered > 2)
    heart.remove(pulse)

    assert silent == []
