import pytest
from budget import NAMES_ROOM, ROOM, UNSURE_ROOM, Budget, Found
from config import Limits

DISK, FILES = 1 << 30, 1000


@pytest.fixture
def budget():
    return Budget(Limits(file_size=DISK, disk=DISK, files=FILES, output=DISK))


def found(size=0, names=0, **more):
    return Found(size, names, f"{size} bytes", files_words=f"{names} names", **more)


def test_session_within_its_limits_writes(budget):
    """Up to the last byte."""
    assert budget.take(found(DISK, FILES)) is None
    assert (budget.full, budget.closed) == (False, False)


@pytest.mark.parametrize(
    ("beyond", "limit"),
    [
        (found(DISK + 1), "disk"),
        (found(1, FILES + 1), "files"),
        (found(1, low=True), "disk"),
        (found(DISK + 1, unsure=True), "disk"),
    ],
)
def test_session_beyond_a_limit_may_only_remove(budget, beyond, limit):
    """What runs is ended once; what starts after that could only remove, and goes on."""
    assert budget.take(beyond) == limit
    assert (budget.full, budget.closed) == (True, False)
    assert budget.take(beyond) is None


def test_room_is_given_once_and_not_each_call(budget):
    """However often it is looked at, the sum of all that is let through stays."""
    over = DISK + 7
    budget.take(found(over))

    told = [budget.take(found(over + step)) for step in (ROOM // 2, ROOM, ROOM + 1)]

    assert told == [None, None, "disk"]
    assert budget.closed
    assert "no command runs any more" in budget.refusal


def test_names_have_a_room_of_their_own(budget):
    """A name alone takes no room that a limit on files could refuse."""
    budget.take(found(1, FILES + 1))

    assert budget.take(found(1, FILES + 1 + NAMES_ROOM)) is None
    assert budget.take(found(1, FILES + 2 + NAMES_ROOM)) == "files"


def test_others_that_write_close_no_session(budget):
    """While something cannot be looked into, what others wrote counts as its own."""
    budget.take(found(DISK + 1, unsure=True))

    assert budget.take(found(DISK + UNSURE_ROOM, unsure=True)) is None
    assert not budget.closed
    assert budget.take(found(DISK + UNSURE_ROOM + 2, unsure=True)) == "disk"


def test_session_that_was_emptied_writes_again(budget):
    """Also one that was closed: a person may have removed files on the host."""
    budget.take(found(2 * DISK))
    budget.take(found(3 * DISK))

    assert budget.take(found(DISK)) is None
    assert (budget.full, budget.closed) == (False, False)
    assert budget.bytes_allowed == DISK


def test_refusal_says_what_is_used_up_and_what_to_do(budget):
    """The words of the count name where most of it is."""
    budget.take(found(DISK + 1))

    assert budget.refusal.startswith(
        f"the disk budget of the box is used up: {DISK + 1} bytes; until"
    )
    assert "rm" in budget.refusal
