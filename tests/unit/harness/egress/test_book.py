"""The record of what leaves: on disk before it counts, bounded for what repeats."""

import anyio
import pytest

from orchestrator.errors import AuditUnavailable
from orchestrator.harness.egress.book import EACH_ALIKE, MOST_REFUSED, EgressBook

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Listed:
    """An audit in memory."""

    def __init__(self, room=1_000_000):
        self.records = []
        self.room = room

    def append(self, kind, body, /):
        if len(self.records) >= self.room:
            raise AuditUnavailable("the disk is full")
        self.records.append((kind, dict(body)))
        return len(self.records)


def book_on(audit, failures=None):
    heard = [] if failures is None else failures
    return EgressBook(audit, scrub=lambda body: body, on_failure=lambda: heard.append("failed"))


async def test_notes_are_written_by_the_end_however_it_comes():
    audit = Listed()
    with anyio.move_on_after(0):
        async with book_on(audit).running():
            book = book_on(audit)
            async with book.running():
                for number in range(20):
                    book.note("egress_end", {"n": number})
                await anyio.sleep(1)

    assert [body["n"] for _, body in audit.records] == list(range(20))


async def test_failure_is_told_once_and_ends_the_writing():
    failures = []
    book = book_on(Listed(room=1), failures)
    async with book.running():
        await book.decided({})
        with pytest.raises(AuditUnavailable):
            await book.decided({})
        book.note("egress_end", {})

    assert (failures, book.failed) == (["failed"], True)


async def test_end_that_cannot_be_written_is_a_failure_too():
    failures = []
    async with book_on(Listed(room=0), failures).running() as _:
        pass
    book = book_on(Listed(room=0), failures)
    async with book.running():
        book.note("egress_end", {})

    assert failures == ["failed"]


async def test_count_of_refusals_alike_is_kept_at_each_power_of_ten_and_at_the_end():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        for _ in range(123):
            await book.refused("same", {})

    counts = [body["count"] for kind, body in audit.records if kind == "egress_again"]
    assert counts == [10, 100, 123]
    assert sum(kind == "egress" for kind, _ in audit.records) == EACH_ALIKE


async def test_more_kinds_than_are_told_apart_are_counted_together():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        for number in range(MOST_REFUSED + 30):
            await book.refused(number, {})

    assert sum(kind == "egress" for kind, _ in audit.records) == MOST_REFUSED
    last = [body for kind, body in audit.records if kind == "egress_again"][-1]
    assert last == {"egress": None, "count": 30}
