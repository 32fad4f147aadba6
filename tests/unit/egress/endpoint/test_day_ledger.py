"""The count of a day, over sessions and processes."""

import multiprocessing
import os

import pytest

from orchestrator.egress.endpoint.day_ledger import DayLedger, DayLimits, DayUse, today
from orchestrator.errors import ConfigError


@pytest.fixture
def ledger(tmp_path):
    """One day's ledger; the day is the list's last."""
    days = ["2026-11-30"]
    made = DayLedger(tmp_path / "state" / "use", day=lambda: days[-1])
    return made, days


def test_what_is_taken_is_counted_until_the_limit(ledger):
    """What does not fit is not taken, and says what is used."""
    found, _ = ledger

    assert found.take(60, 0.5, DayLimits(tokens=100)) == ("2026-11-30", None)
    _, over = found.take(60, 0.5, DayLimits(tokens=100))
    assert over == DayUse(day="2026-11-30", tokens=60, cost_usd=0.5)
    assert found.take(40, 0.5, DayLimits(tokens=100))[1] is None
    assert found.take(0, 0.1, DayLimits(cost_usd=1.0))[1] is not None
    assert found.used().tokens == 100


def test_correction_counts_on_its_own_day_alone(ledger):
    """A call that ends after midnight takes nothing from the new day."""
    found, days = ledger
    day, _ = found.take(100, 1.0, DayLimits())
    found.correct(day, -30, -0.25)
    assert (found.used().tokens, found.used().cost_usd) == (70, 0.75)
    days.append("2026-12-01")

    assert found.used() == DayUse(day="2026-12-01")
    found.correct(day, -30, -0.25)
    assert found.used() == DayUse(day="2026-12-01")


def test_clock_that_is_set_back_opens_no_new_budget(ledger):
    """The later day goes on."""
    found, days = ledger
    found.take(100, 1.0, DayLimits())
    days.append("2026-11-29")

    assert found.used().tokens == 100


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"version":1,"day":"x"}', b"\xff"])
def test_damaged_count_is_not_taken_for_zero(ledger, tmp_path, raw):
    """Nobody knows what was used: nothing more is."""
    found, _ = ledger
    found.take(1, 0.0, DayLimits())
    (tmp_path / "state" / "use").write_bytes(raw)

    with pytest.raises(ConfigError, match="is damaged"):
        found.take(1, 0.0, DayLimits())


def _take_often(path):
    found = DayLedger(path, day=lambda: "2026-11-30")
    for _ in range(50):
        found.take(1, 0.01, DayLimits())


def test_processes_beside_each_other_lose_no_count(tmp_path):
    """Sessions share the file under its lock."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_take_often, args=(tmp_path / "use",)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)

    assert DayLedger(tmp_path / "use", day=lambda: "2026-11-30").used().tokens == 150


def test_file_is_its_owners_alone(ledger, tmp_path):
    """What was used is nobody else's to read or change."""
    ledger[0].take(1, 0.0, DayLimits())

    assert (tmp_path / "state" / "use").stat().st_mode & 0o077 == 0
    assert today().count("-") == 2


def test_what_a_dead_process_has_left_beside_it_is_in_nobodys_way(tmp_path):
    """Whatever it is: a pipe would be waited for."""
    os.mkfifo(tmp_path / "use.new")
    found = DayLedger(tmp_path / "use")

    found.take(60, 0.5, DayLimits())
    assert found.used().tokens == 60
