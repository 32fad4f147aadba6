"""What a person says while the model works."""

from orchestrator.loop.queue import EmptyQueue, PersonQueue
from orchestrator.schema.head_event import QueueChange
from orchestrator.schema.message import Image


def opened():
    events = []
    return PersonQueue(events.append, lambda text: text.replace("SECRET", "[key]")), events


def texts(messages):
    return [message.content[-1].text for message in messages]


def test_steering_is_told_at_once_and_all_together():
    queue, _ = opened()
    queue.steer("stop that")
    queue.steer("and look there")

    assert texts(queue.steering()) == ["stop that", "and look there"]
    assert queue.steering() == ()


def test_follow_ups_are_told_one_at_a_time():
    """Each is a task of its own."""
    queue, _ = opened()
    queue.follow_up("first")
    queue.follow_up("second")

    assert [texts(queue.follow_ups()) for _ in range(3)] == [["first"], ["second"], []]


def test_everybody_sees_what_waits_without_secrets():
    queue, events = opened()
    queue.steer("use SECRET")
    queue.follow_up("later")
    queue.steering()

    assert events == [
        QueueChange(("use [key]",), ()),
        QueueChange(("use [key]",), ("later",)),
        QueueChange((), ("later",)),
    ]
    assert queue


def test_all_can_be_taken_back():
    queue, events = opened()
    queue.steer("a", (Image("image/png", "A"),))
    queue.follow_up("b")

    assert queue.clear() == ("a", "b")
    assert not queue
    assert events[-1] == QueueChange()
    assert queue.clear() == ()


def test_nobody_says_nothing():
    assert (EmptyQueue().steering(), EmptyQueue().follow_ups()) == ((), ())
