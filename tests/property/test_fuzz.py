"""No text breaks the gate, and none makes it work without end; ``make fuzz`` tries many more."""

import random
import sys

import pytest

from orchestrator.shell.analyse import analyse
from tests.property import fuzz

TEXTS = 1_000
MOST_CALLS = 3_000_000
"""Calls that reading one text may take, whatever it is: some ten times the most that was seen."""

DOUBLING = [
    "x=$x$x; " * 40 + "echo $x",
    "x=aaaa; " + "x=$x$x; " * 40 + "$x",
    "a=(1 2 3); " + 'a+=("${a[@]}"); ' * 30 + 'echo "${a[@]}"',
    "set -- a b; " + 'set -- "$@" "$@"; ' * 40 + "ls",
    "x=aaaa; " + "x=${x//a/aaaaaaaaaa}; " * 30 + "$x",
    "x=aaaaaaaa; " + "x=$(echo $x$x); " * 40 + "$x",
    "echo a > f; " + "cat f f > g; cat g g > f; " * 60 + "sh f",
    "x=" + "a" * 60_000 + "; echo " + '"$x" ' * 5_000,
    "echo " + "{a,b}" * 30,
    "echo " + "{a..z}{a..z}{a..z}",
    *("f0() { ls; }; " + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}; " for n in range(1, n)) + f"f{n - 1}"
      for n in (10, 40)),
    "for a in 1 2 3 4; do " * 12 + "ls $a; " + "done; " * 12,
    "[ x ] && y=1; " * 4_000,
    "python3 -c \"a='x';" + ";".join(
        f"{chr(98 + n)}=f'" + f"{{{chr(97 + n)}}}" * 50 + "'" for n in range(20)
    ) + ';import os;os.system(u)"',
    "sh -c '" * 1 + "eval " * 500 + "ls'",
    "$(" * 300 + "ls" + ")" * 300,
    "`" * 999,
    "((" * 400,
    "cat <<A <<B <<C\n" * 300,
    "perl -e '" + '"a".(' * 1_500 + "'",
    "node -e '" + "${" * 3_500 + "'",
    "ruby -e '" + "#{" * 1_500 + "}" * 1_500 + "'",
    "perl -e '" + "@{[" * 2_000 + "'",
    "sed '" + "s/a/b/;" * 4_000 + "' f",
    "make -f - <<'E'\n" + "a: ; $(shell ls)\n" * 3_000 + "E",
    "ls; " * 25_000,
    "a" * 100_000,
    "'" * 99_999,
    "$x" * 40_000,
]  # fmt: skip


def _calls(text: str) -> int:
    """Return how many calls, of Python's functions and of those in C, reading a text takes."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        analyse(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("seed", range(4))
def test_no_text_breaks_the_gate(seed, default):
    """Random bytes and mutated commands are answered like all others."""
    tally = fuzz.run(default, TEXTS, f"suite {seed}")

    assert tally.broken == []
    assert set(tally.effects) == {"allow", "ask", "deny"}


@pytest.mark.parametrize("text", DOUBLING, ids=range(len(DOUBLING)))
def test_no_text_makes_the_gate_work_without_end(text):
    """What doubles itself soon meets a limit; work is counted, not timed."""
    assert _calls(text) < MOST_CALLS


def test_random_texts_stay_far_within_the_bound():
    """The bound is not only kept by those that were thought of."""
    chance = random.Random("work")
    calls = [_calls(text) for text in fuzz.texts(chance, 300)]

    assert max(calls) < MOST_CALLS
