"""The record of what leaves: in the chain before it counts, bounded for what repeats."""

import anyio
import pytest
from anyio import from_thread

from orchestrator.errors import AuditUnavailable
from orchestrator.harness.egress.book import (
    EACH_ALIKE,
    LATER_S,
    MOST_REFUSED,
    MOST_TOGETHER,
    EgressBook,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Listed:
    """An audit in memory."""

    def __init__(self, room=1_000_000):
        self.records, self.writes = [], []
        self.on_disk = 0
        self.room = room

    def append_soon(self, kind, body, /):
        (seq,) = self._take([(kind, body)])
        return seq

    def sync(self):
        if self.room < 0:
            raise AuditUnavailable("fsync failed")
        self.on_disk = len(self.records)

    def append_all(self, entries, /):
        seqs = self._take(entries)
        self.on_disk = len(self.records)
        return seqs

    def _take(self, entries):
        if len(self.records) + len(entries) > self.room:
            raise AuditUnavailable("the disk is full")
        self.writes.append(len(entries))
        self.records += [(kind, dict(body)) for kind, body in entries]
        return [len(self.records)] * len(entries)


def book_on(audit, failures=None):
    heard = [] if failures is None else failures
    return EgressBook(audit, scrub=lambda body: body, on_failure=lambda: heard.append("failed"))


async def test_notes_are_written_by_the_end_however_it_comes():
    audit = Listed()
    book = book_on(audit)
    with anyio.move_on_after(0.01):
        async with book.running():
            for number in range(20):
                book.note("egress_end", {"n": number})
            await anyio.sleep(60)

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


async def test_what_waits_at_one_time_is_written_together():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        for number in range(200):
            book.note("egress_end", {"n": number})

    assert [body["n"] for _, body in audit.records] == list(range(200))
    assert audit.writes == [MOST_TOGETHER] * 3 + [200 - 3 * MOST_TOGETHER]


async def test_decision_is_in_the_chain_at_once_and_on_disk_a_moment_later():
    """No request waits for the disk."""
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        await book.decided({"n": 1})
        before = (len(audit.records), audit.on_disk)
        await anyio.sleep(LATER_S * 5)

        assert (before, audit.on_disk) == ((1, 0), 1)


async def test_decision_is_on_disk_by_the_end():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        await book.decided({"n": 1})

    assert audit.on_disk == 1


async def test_disk_that_fails_later_ends_the_letting_out():
    audit, failures = Listed(), []
    book = book_on(audit, failures)
    async with book.running():
        await book.decided({})
        audit.room = -1
        await anyio.sleep(LATER_S * 5)

        assert failures == ["failed"]
        with pytest.raises(AuditUnavailable):
            await book.decided({})


async def test_end_is_written_soon_without_another_decision():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        book.note("egress_end", {})
        await anyio.sleep(LATER_S * 5)

        assert len(audit.records) == 1


async def test_outside_of_its_time_nothing_is_decided():
    """Before it runs and after it: a record that nobody writes is none."""
    book = book_on(Listed())
    with pytest.raises(AuditUnavailable):
        await book.decided({})
    async with book.running():
        await book.decided({})
    with pytest.raises(AuditUnavailable):
        await book.decided({})


async def test_who_gives_up_leaves_its_record():
    audit = Listed()
    book = book_on(audit)
    async with book.running():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await book.write("policy_change", {"n": 1})

    assert [body["n"] for _, body in audit.records] == [1]


class Growing(Listed):
    """One to which something more is noted while it writes the first note."""

    def __init__(self):
        super().__init__()
        self.book, self.done = None, []
        self.more = anyio.Event()

    def note_more(self):
        self.book.note("egress_end", {"n": 2})
        self.more.set()

    def append_all(self, entries, /):
        if not self.done:
            from_thread.run_sync(self.note_more)
        self.done += [body["n"] for _, body in entries]
        return super().append_all(entries)

    def sync(self):
        self.done.append("sync")
        super().sync()


async def test_what_comes_while_others_are_written_waits_for_its_turn():
    """Else each is brought to disk alone, and a decision waits for all of them."""
    audit = Growing()
    audit.book = book_on(audit)
    async with audit.book.running():
        await audit.book.decided({})
        audit.book.note("egress_end", {"n": 1})
        await audit.more.wait()

    assert audit.done == [1, "sync", 2]


async def test_foreign_words_alone_are_scrubbed():
    """The rest is ours; looking through it costs each request time."""
    seen = []

    def scrub(body):
        seen.append(set(body))
        return dict.fromkeys(body, "clean")

    audit = Listed()
    book = EgressBook(audit, scrub=scrub, on_failure=lambda: None)
    async with book.running():
        await book.decided({"path": "/secret", "rule": "r", "host": "h", "caller": None})

    assert seen == [{"path", "host"}]
    ((_, body),) = audit.records
    assert body == {"path": "clean", "host": "clean", "caller": None, "rule": "r"}


@pytest.mark.parametrize("broken", [OSError("disk"), ValueError("a bug"), AuditUnavailable("full")])
@pytest.mark.parametrize("waits", [True, False])
async def test_whatever_breaks_while_writing_is_no_record(broken, *, waits):
    """Nothing is taken for written that was not."""

    class Broken:
        def append_all(self, entries, /):  # noqa: ARG002 - the form of Chain
            raise broken

        def append_soon(self, kind, body, /):  # noqa: ARG002 - the same
            raise broken

    failures = []
    book = book_on(Broken(), failures)
    async with book.running():
        for _ in range(2):
            with pytest.raises(AuditUnavailable):
                await (book.write("policy_change", {}) if waits else book.decided({}))

    assert (failures, book.failed) == (["failed"], True)


async def test_disk_that_takes_nothing_more_ends_the_letting_out():
    class Full(Listed):
        def sync(self):
            raise OSError("disk")

    failures = []
    book = book_on(Full(), failures)
    async with book.running():
        await book.decided({})

    assert (failures, book.failed) == (["failed"], True)


async def test_audit_that_numbers_too_few_is_no_record():
    class Short(Listed):
        def append_all(self, entries, /):
            return super().append_all(entries)[1:]

    book = book_on(Short())
    async with book.running():
        with pytest.raises(AuditUnavailable):
            await book.write("policy_change", {})
