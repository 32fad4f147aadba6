"""Everyday commands: who is asked about these stops reading questions."""

from __future__ import annotations

from itertools import chain

import pytest
import yaml

from tests.support.shipped import ROOT, judge, shipped

EVERYDAY = yaml.safe_load((ROOT / "tests" / "cases" / "everyday.yaml").read_text("utf-8"))
COMMANDS = list(chain.from_iterable(EVERYDAY.values()))


def _asked(name: str) -> list[str]:
    """Return what the shipped policy does not allow, each with its reason."""
    decided = [(line, judge(shipped(name), line)) for line in COMMANDS]
    return [f"{line!r}: {item.reason}" for line, item in decided if item.effect != "allow"]


def test_the_corpus_is_whole():
    """An emptied file would hold trivially."""
    assert len(COMMANDS) == len(set(COMMANDS)) >= 320
    assert all(isinstance(line, str) for line in COMMANDS)


@pytest.mark.parametrize(("name", "share"), [("default", 0.02), ("yolo", 0.0)])
def test_everyday_commands_are_seldom_asked_about(name, share):
    """At most one in fifty by default, none under yolo."""
    asked = _asked(name)
    print(f"{name}: asks about {len(asked)} of {len(COMMANDS)}", *asked, sep="\n  ")

    assert len(asked) <= share * len(COMMANDS), asked
