"""What is told of the programs that one command started."""

import json

import pytest
from seen import MOST_NEW, MOST_REPEATED, Seen

SHELL = 7


@pytest.fixture
def seen():
    return Seen(1, SHELL)


def add(seen, *words, pid=9, path="/bin/x", flags=0):
    seen.add((pid, SHELL), flags, "\0".join([path, path, "", "/bin/sh", *words, ""]).encode())


def told(seen, *, last=False):
    body = seen.report(last=last)
    return None if body is None else json.loads(body)


def test_shell_of_the_command_is_no_news_once(seen):
    """It is started for every command; what it replaces itself by is news."""
    add(seen, "bash", pid=SHELL)
    add(seen, "date", pid=SHELL)

    assert [item["argv"] for item in told(seen)["execs"]] == [["date"]]


def test_report_is_given_once(seen):
    """Nothing new is nothing to tell, until the last word."""
    add(seen, "date")

    assert len(told(seen)["execs"]) == 1
    assert told(seen) is None
    assert told(seen, last=True) == {"execs": [], "unlisted": 0, "overflow": False, "last": True}


def test_search_through_path_is_one_program(seen):
    """By the last place; the same words in another process are another."""
    add(seen, "date", path="/a/date")
    add(seen, "date", path="/b/date")
    add(seen, "date", path="/b/date", pid=10)

    assert [item["path"] for item in told(seen)["execs"]] == ["/b/date", "/b/date"]


def test_repetitions_are_counted_and_new_ones_listed(seen):
    """Nothing hides behind many of the same."""
    for pid in range(100, 100 + MOST_REPEATED + 50):
        add(seen, "true", pid=pid)
    add(seen, "git", "push")
    report = told(seen)

    assert report["unlisted"] == 50
    assert report["execs"][-1]["argv"] == ["git", "push"]
    assert not report["overflow"]


def test_too_many_different_ones_are_said_to_be(seen):
    """Memory is bounded; the host learns that it does not know all."""
    for number in range(MOST_NEW + 5):
        add(seen, f"{number}", pid=number + 100)
    report = told(seen)

    assert (len(report["execs"]), report["unlisted"]) == (MOST_NEW, 5)
    assert report["overflow"]


@pytest.mark.parametrize(("flags", "name"), [(1, "cut"), (2, "unreadable")])
def test_what_is_not_known_is_marked(seen, flags, name):
    """And bytes that are no text become marks."""
    seen.add((9, SHELL), flags, b"/bin/\xff\0\0\0\0a\xff\0")
    (item,) = told(seen)["execs"]

    assert item[name]
    assert item["argv"] == ["a\ufffd"]
