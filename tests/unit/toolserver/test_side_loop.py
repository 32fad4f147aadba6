import os
from itertools import pairwise

from loop import Loop
from side_loop import MOST_A_TURN, SideLoop


def turn(loop):
    """Let everything happen that can happen now."""
    loop._stopped = False
    loop.after(0, loop.stop)
    loop.run()


def pipes(count):
    return [os.pipe2(os.O_NONBLOCK) for _ in range(count)]


def test_call_comes_between_the_many():
    """However many are ready, a few are served before the loop looks at all else again."""
    loop, order = Loop(), []
    side = SideLoop(loop)
    many = pipes(5 * MOST_A_TURN)
    for read, write in many:
        side.on_readable(read, lambda: order.append("many"))
        os.write(write, b"x")
    [(read, write)] = pipes(1)
    loop.on_readable(read, lambda: order.append("call"))
    os.write(write, b"x")
    for _ in range(4):
        turn(loop)
    side.close()
    os.close(read)

    places = [place for place, what in enumerate(order) if what == "call"]
    gaps = [after - before for before, after in pairwise(places)]
    assert gaps
    assert max(gaps) <= MOST_A_TURN + 1


def test_each_of_the_many_has_its_turn():
    """None is passed over for those that are always ready."""
    loop, heard = Loop(), set()
    side = SideLoop(loop)
    for number, (read, write) in enumerate(pipes(3 * MOST_A_TURN)):
        side.on_readable(read, lambda number=number: heard.add(number))
        os.write(write, b"x")
    for _ in range(4):
        turn(loop)
    side.close()

    assert len(heard) == 3 * MOST_A_TURN


def test_timers_are_the_loop_s():
    """Set and cancelled here, fired there."""
    loop, fired = Loop(), []
    side = SideLoop(loop)
    side.after(0, lambda: fired.append("kept"))
    side.cancel(side.after(0, lambda: fired.append("cancelled")))
    turn(loop)
    side.close()

    assert fired == ["kept"]
